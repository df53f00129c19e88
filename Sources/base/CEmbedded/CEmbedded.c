// The files that the program carries. `#embed` (C23) reads each at build time, in no time, and the build
// knows the dependency; Swift literals of the same bytes took minutes.
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "CEmbedded.h"

#include <string.h>

static const unsigned char openapi_json[] = {
#embed "../../server/FeedServer/openapi.json"
};
static const unsigned char lookahead_js[] = {
#embed "../../server/Page/lookahead.js"
};
static const unsigned char page_desk_css[] = {
#embed "../../server/Page/page/desk.css"
};
static const unsigned char page_desk_client_js[] = {
#embed "../../server/Page/page/desk-client.js"
};
static const unsigned char page_desk_conflict_js[] = {
#embed "../../server/Page/page/desk-conflict.js"
};
static const unsigned char page_desk_files_js[] = {
#embed "../../server/Page/page/desk-files.js"
};
static const unsigned char page_desk_list_js[] = {
#embed "../../server/Page/page/desk-list.js"
};
static const unsigned char page_desk_post_js[] = {
#embed "../../server/Page/page/desk-post.js"
};
static const unsigned char page_desk_preview_js[] = {
#embed "../../server/Page/page/desk-preview.js"
};
static const unsigned char page_desk_view_js[] = {
#embed "../../server/Page/page/desk-view.js"
};
static const unsigned char page_dom_js[] = {
#embed "../../server/Page/page/dom.js"
};
static const unsigned char page_feed_choice_js[] = {
#embed "../../server/Page/page/feed-choice.js"
};
static const unsigned char page_feed_view_js[] = {
#embed "../../server/Page/page/feed-view.js"
};
static const unsigned char page_frame_js[] = {
#embed "../../server/Page/page/frame.js"
};
static const unsigned char page_icon_svg[] = {
#embed "../../server/Page/page/icon.svg"
};
static const unsigned char page_index_html[] = {
#embed "../../server/Page/page/index.html"
};
static const unsigned char page_inspector_js[] = {
#embed "../../server/Page/page/inspector.js"
};
static const unsigned char page_lab_story_js[] = {
#embed "../../server/Page/page/lab-story.js"
};
static const unsigned char page_lab_view_js[] = {
#embed "../../server/Page/page/lab-view.js"
};
static const unsigned char page_lane_js[] = {
#embed "../../server/Page/page/lane.js"
};
static const unsigned char page_live_view_js[] = {
#embed "../../server/Page/page/live-view.js"
};
static const unsigned char page_link_js[] = {
#embed "../../server/Page/page/link.js"
};
static const unsigned char page_metrics_js[] = {
#embed "../../server/Page/page/metrics.js"
};
static const unsigned char page_page_css[] = {
#embed "../../server/Page/page/page.css"
};
static const unsigned char page_page_js[] = {
#embed "../../server/Page/page/page.js"
};
static const unsigned char page_sample_report_html[] = {
#embed "../../server/Page/page/sample-report.html"
};
static const unsigned char page_server_view_js[] = {
#embed "../../server/Page/page/server-view.js"
};
static const unsigned char page_slide_js[] = {
#embed "../../server/Page/page/slide.js"
};
static const unsigned char page_tabs_js[] = {
#embed "../../server/Page/page/tabs.js"
};
static const unsigned char page_thumbhash_js[] = {
#embed "../../server/Page/page/thumbhash.js"
};
static const unsigned char sqlite_0001_store_sql[] = {
#embed "../../../Migrations/sqlite/0001-store.sql"
};
static const unsigned char sqlite_0002_reports_sql[] = {
#embed "../../../Migrations/sqlite/0002-reports.sql"
};
static const unsigned char sqlite_0003_published_strategies_sql[] = {
#embed "../../../Migrations/sqlite/0003-published-strategies.sql"
};
static const unsigned char sqlite_0004_usual_parameters_sql[] = {
#embed "../../../Migrations/sqlite/0004-usual-parameters.sql"
};
static const unsigned char sqlite_0005_watching_sql[] = {
#embed "../../../Migrations/sqlite/0005-watching.sql"
};
static const unsigned char sqlite_0006_default_policy_sql[] = {
#embed "../../../Migrations/sqlite/0006-default-policy.sql"
};
static const unsigned char sqlite_0007_swipe_strategies_sql[] = {
#embed "../../../Migrations/sqlite/0007-swipe-strategies.sql"
};
static const unsigned char sqlite_0008_experiments_sql[] = {
#embed "../../../Migrations/sqlite/0008-experiments.sql"
};
static const unsigned char sqlite_0009_text_search_sql[] = {
#embed "../../../Migrations/sqlite/0009-text-search.sql"
};
static const unsigned char sqlite_0010_changes_sql[] = {
#embed "../../../Migrations/sqlite/0010-changes.sql"
};
static const unsigned char sqlite_0011_schedules_sql[] = {
#embed "../../../Migrations/sqlite/0011-schedules.sql"
};
static const unsigned char postgres_0001_store_sql[] = {
#embed "../../../Migrations/postgres/0001-store.sql"
};
static const unsigned char postgres_0002_reports_sql[] = {
#embed "../../../Migrations/postgres/0002-reports.sql"
};
static const unsigned char postgres_0003_published_strategies_sql[] = {
#embed "../../../Migrations/postgres/0003-published-strategies.sql"
};
static const unsigned char postgres_0004_usual_parameters_sql[] = {
#embed "../../../Migrations/postgres/0004-usual-parameters.sql"
};
static const unsigned char postgres_0005_watching_sql[] = {
#embed "../../../Migrations/postgres/0005-watching.sql"
};
static const unsigned char postgres_0006_default_policy_sql[] = {
#embed "../../../Migrations/postgres/0006-default-policy.sql"
};
static const unsigned char postgres_0007_swipe_strategies_sql[] = {
#embed "../../../Migrations/postgres/0007-swipe-strategies.sql"
};
static const unsigned char postgres_0008_experiments_sql[] = {
#embed "../../../Migrations/postgres/0008-experiments.sql"
};
static const unsigned char postgres_0009_text_search_sql[] = {
#embed "../../../Migrations/postgres/0009-text-search.sql"
};
static const unsigned char postgres_0010_changes_sql[] = {
#embed "../../../Migrations/postgres/0010-changes.sql"
};
static const unsigned char postgres_0011_schedules_sql[] = {
#embed "../../../Migrations/postgres/0011-schedules.sql"
};

static const EmbeddedFile files[] = {
    {"openapi.json", openapi_json, sizeof openapi_json},
    {"lookahead.js", lookahead_js, sizeof lookahead_js},
    {"page/desk.css", page_desk_css, sizeof page_desk_css},
    {"page/desk-client.js", page_desk_client_js, sizeof page_desk_client_js},
    {"page/desk-conflict.js", page_desk_conflict_js, sizeof page_desk_conflict_js},
    {"page/desk-files.js", page_desk_files_js, sizeof page_desk_files_js},
    {"page/desk-list.js", page_desk_list_js, sizeof page_desk_list_js},
    {"page/desk-post.js", page_desk_post_js, sizeof page_desk_post_js},
    {"page/desk-preview.js", page_desk_preview_js, sizeof page_desk_preview_js},
    {"page/desk-view.js", page_desk_view_js, sizeof page_desk_view_js},
    {"page/dom.js", page_dom_js, sizeof page_dom_js},
    {"page/feed-choice.js", page_feed_choice_js, sizeof page_feed_choice_js},
    {"page/feed-view.js", page_feed_view_js, sizeof page_feed_view_js},
    {"page/frame.js", page_frame_js, sizeof page_frame_js},
    {"page/icon.svg", page_icon_svg, sizeof page_icon_svg},
    {"page/index.html", page_index_html, sizeof page_index_html},
    {"page/inspector.js", page_inspector_js, sizeof page_inspector_js},
    {"page/lab-story.js", page_lab_story_js, sizeof page_lab_story_js},
    {"page/lab-view.js", page_lab_view_js, sizeof page_lab_view_js},
    {"page/lane.js", page_lane_js, sizeof page_lane_js},
    {"page/live-view.js", page_live_view_js, sizeof page_live_view_js},
    {"page/link.js", page_link_js, sizeof page_link_js},
    {"page/metrics.js", page_metrics_js, sizeof page_metrics_js},
    {"page/page.css", page_page_css, sizeof page_page_css},
    {"page/page.js", page_page_js, sizeof page_page_js},
    {"page/sample-report.html", page_sample_report_html, sizeof page_sample_report_html},
    {"page/server-view.js", page_server_view_js, sizeof page_server_view_js},
    {"page/slide.js", page_slide_js, sizeof page_slide_js},
    {"page/tabs.js", page_tabs_js, sizeof page_tabs_js},
    {"page/thumbhash.js", page_thumbhash_js, sizeof page_thumbhash_js},
    {"sqlite/0001-store.sql", sqlite_0001_store_sql, sizeof sqlite_0001_store_sql},
    {"sqlite/0002-reports.sql", sqlite_0002_reports_sql, sizeof sqlite_0002_reports_sql},
    {"sqlite/0003-published-strategies.sql", sqlite_0003_published_strategies_sql,
     sizeof sqlite_0003_published_strategies_sql},
    {"sqlite/0004-usual-parameters.sql", sqlite_0004_usual_parameters_sql,
     sizeof sqlite_0004_usual_parameters_sql},
    {"sqlite/0005-watching.sql", sqlite_0005_watching_sql, sizeof sqlite_0005_watching_sql},
    {"sqlite/0006-default-policy.sql", sqlite_0006_default_policy_sql, sizeof sqlite_0006_default_policy_sql},
    {"sqlite/0007-swipe-strategies.sql", sqlite_0007_swipe_strategies_sql,
     sizeof sqlite_0007_swipe_strategies_sql},
    {"sqlite/0008-experiments.sql", sqlite_0008_experiments_sql, sizeof sqlite_0008_experiments_sql},
    {"sqlite/0009-text-search.sql", sqlite_0009_text_search_sql, sizeof sqlite_0009_text_search_sql},
    {"sqlite/0010-changes.sql", sqlite_0010_changes_sql, sizeof sqlite_0010_changes_sql},
    {"sqlite/0011-schedules.sql", sqlite_0011_schedules_sql, sizeof sqlite_0011_schedules_sql},
    {"postgres/0001-store.sql", postgres_0001_store_sql, sizeof postgres_0001_store_sql},
    {"postgres/0002-reports.sql", postgres_0002_reports_sql, sizeof postgres_0002_reports_sql},
    {"postgres/0003-published-strategies.sql", postgres_0003_published_strategies_sql,
     sizeof postgres_0003_published_strategies_sql},
    {"postgres/0004-usual-parameters.sql", postgres_0004_usual_parameters_sql,
     sizeof postgres_0004_usual_parameters_sql},
    {"postgres/0005-watching.sql", postgres_0005_watching_sql, sizeof postgres_0005_watching_sql},
    {"postgres/0006-default-policy.sql", postgres_0006_default_policy_sql, sizeof postgres_0006_default_policy_sql},
    {"postgres/0007-swipe-strategies.sql", postgres_0007_swipe_strategies_sql,
     sizeof postgres_0007_swipe_strategies_sql},
    {"postgres/0008-experiments.sql", postgres_0008_experiments_sql, sizeof postgres_0008_experiments_sql},
    {"postgres/0009-text-search.sql", postgres_0009_text_search_sql, sizeof postgres_0009_text_search_sql},
    {"postgres/0010-changes.sql", postgres_0010_changes_sql, sizeof postgres_0010_changes_sql},
    {"postgres/0011-schedules.sql", postgres_0011_schedules_sql, sizeof postgres_0011_schedules_sql},
};

const EmbeddedFile *embedded_file_at(size_t row) {
  return row < sizeof files / sizeof files[0] ? &files[row] : NULL;
}

const EmbeddedFile *embedded_file(const char *name) {
  for (size_t row = 0; row < sizeof files / sizeof files[0]; row++) {
    if (strcmp(files[row].name, name) == 0) return &files[row];
  }
  return NULL;
}
