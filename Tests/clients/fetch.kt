// Reads what a server answers into the models that openapi-generator makes for Kotlin, and writes with them.

import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.ItemInFeeds
import org.openapitools.client.models.Page
import org.openapitools.client.models.Plan
import org.openapitools.client.models.PlanState
import org.openapitools.client.models.PostType
import org.openapitools.client.models.Record

class Server(val base: String, val token: String) {
    fun ask(target: String, method: String = "GET", body: Any? = null): String {
        val connection = URL(base + target).openConnection() as HttpURLConnection
        connection.requestMethod = method
        connection.setRequestProperty("Authorization", "Bearer " + token)
        if (body != null) {
            connection.doOutput = true
            connection.setRequestProperty("Content-Type", "application/json")
            connection.outputStream.use { it.write(Serializer.gson.toJson(body).toByteArray()) }
        }
        return connection.inputStream.use { String(it.readBytes()) }
    }

    inline fun <reified Model> get(target: String, method: String = "GET", body: Any? = null): Model =
        Serializer.gson.fromJson(ask(target, method, body), Model::class.java)
}

fun main(arguments: Array<String>) {
    val server = Server(arguments[0], arguments[1])
    val ids = mutableListOf<String>()
    var files = 0
    var total = 0L
    var target: String? = "/v1/feeds/featured/items?limit=7"
    while (target != null) {
        val page = server.get<Page>(target)
        ids += page.items.map { it.id }
        files += page.items.sumBy { item -> item.media.orEmpty().count { (it.bytes ?: 0) > 0 } }
        total = page.feed.total.toLong()
        target = page.paging.links.next
    }
    check(ids.size == ids.toSet().size && ids.size.toLong() == total && total > 20) { "${ids.size} of $total" }
    check(files > 0) { "no file has a size" }

    val item = server.get<ItemInFeeds>("/v1/items/" + URLEncoder.encode(ids[0], "UTF-8"))
    check(item.id == ids[0] && item.feeds.isNotEmpty())
    check(item.publishedAt!!.year > 2000)

    server.ask("/v1/items/made", "PUT", Record(type = PostType.text, text = "made by a client"))
    check(server.get<ItemInFeeds>("/v1/items/made").text == "made by a client")
    server.ask("/v1/items/made", "DELETE")

    val state = PlanState(feed = "featured", items = ids.take(3), active = ids[0])
    val actions = server.get<Plan>("/v1/plan", "POST", state).actions
    check(actions.isNotEmpty())
    println("${ids.size} items, $files files, ${actions.size} actions")
}
