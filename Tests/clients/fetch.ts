// Fetches from a server with the client that openapi-generator makes for TypeScript.
import { Configuration, DefaultApi, PostType, ResponseError } from "./client";

declare const process: { argv: string[]; exit(status: number): never };

function check(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

async function main(basePath: string, accessToken: string): Promise<void> {
  const api = new DefaultApi(new Configuration({ basePath, accessToken }));
  const ids: string[] = [];
  let after: string | undefined;
  let total = 0;
  do {
    const page = await api.getPage({ feed: "featured", limit: 7, after });
    ids.push(...page.items.map((item) => item.id));
    total = page.feed.total;
    after = page.paging.next ?? undefined;
  } while (after !== undefined);
  check(ids.length === total && new Set(ids).size === total && total > 20, [ids.length, total]);

  const around = await api.getPage({ feed: "featured", around: ids[9], leading: 2, trailing: 1 });
  check(around.items.map((item) => item.id).join() === ids.slice(8, 12).join(), around.items);
  const item = await api.getItem({ id: ids[0] });
  check(item.feeds.some((feed) => feed.name === "featured"), item);
  const first = await api.getPage({ feed: "featured" });
  const files = first.items.flatMap((item) => item.media ?? []);
  check(files.some((file) => (file.bytes ?? 0) > 0), "no file has a size");

  const id = "made by a client";
  const extra = { price: 12.5, sizes: ["S", { m: null }] };
  await api.putItem({
    id,
    modelRecord: {
      type: PostType.Text, text: "made by a generated client", extra, author: { name: "Ann" },
      feeds: [{ name: "made" }],
    },
  });
  const made = await api.getItem({ id });
  check(JSON.stringify(made.extra) === JSON.stringify(extra), made);
  check(made.author?.name === "Ann" && made.author.id === undefined, made);
  await api.deleteItem({ id });
  const status = await api.getItem({ id }).then(
    () => 200, (error) => (error instanceof ResponseError ? error.response.status : 0));
  check(status === 404, status);

  const plan = await api.plan({
    planState: { feed: "featured", items: ids.slice(0, 3), active: ids[0] },
  });
  check(plan.actions.length > 0 && ids.includes(plan.actions[0].item ?? ""), plan);
  console.log(`${ids.length} items, ${files.length} files, ${plan.actions.length} actions`);
}

main(process.argv[2], process.argv[3]).catch((error) => {
  console.error(error);
  process.exit(1);
});
