-- A database as the first two migrations left it, with the fixtures stories.ndjson and videos.ndjson,
-- written out as SQL. docker/test has the image bring it up to date, and holds its export against that
-- of a new database. A released schema does not change, and so neither does this file.
PRAGMA application_id = 1282097512;
BEGIN TRANSACTION;
CREATE TABLE author (
  author_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL CHECK (id <> ''),
  name TEXT CHECK (name <> '')
) STRICT;
INSERT INTO "author" VALUES(1,'mira','Mira Oyelaran');
INSERT INTO "author" VALUES(2,'bee','Bee 🐝');
INSERT INTO "author" VALUES(3,'ferry-co','Saltmere Ferry Company');
INSERT INTO "author" VALUES(4,'tove','Tove Lindqvist');
INSERT INTO "author" VALUES(5,'harbour-office','Harbour Office');
INSERT INTO "author" VALUES(6,'lev','Лев Степанов');
INSERT INTO "author" VALUES(7,'noam','נועם ברק');
INSERT INTO "author" VALUES(8,'ravi','रवि कुलकर्णी');
INSERT INTO "author" VALUES(9,'minji','민지');
INSERT INTO "author" VALUES(10,'anon-4411',NULL);
INSERT INTO "author" VALUES(11,'salma','سلمى حداد');
INSERT INTO "author" VALUES(12,'petros','Πέτρος Λ.');
CREATE TABLE change_log (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 'entry': an entry's rankings changed from since/until to new_since/new_until, or it is gone.
  -- 'settings': a feed, a network or a policy changed.
  kind TEXT NOT NULL CHECK (kind IN ('entry', 'settings')),
  feed_id INTEGER,
  post_id INTEGER,
  sort_key INTEGER,
  id TEXT,
  published_at INTEGER,
  since INTEGER,
  until INTEGER,
  new_since INTEGER,
  new_until INTEGER
) STRICT;
INSERT INTO "change_log" VALUES(1,'settings',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "change_log" VALUES(2,'settings',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "change_log" VALUES(3,'settings',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "change_log" VALUES(4,'settings',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE feed (
  feed_id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE CHECK (name <> ''),
  title TEXT CHECK (title <> ''),
  -- The current ranking. An entry that moves makes the next one; see feed_entry.
  ranking INTEGER NOT NULL DEFAULT 1 CHECK (ranking >= 1),
  -- The first ranking that is still kept.
  oldest_ranking INTEGER NOT NULL DEFAULT 1 CHECK (oldest_ranking BETWEEN 1 AND ranking)
) STRICT;
INSERT INTO "feed" VALUES(1,'stories','Stories',1,1);
INSERT INTO "feed" VALUES(2,'videos','Videos',1,1);
CREATE TABLE feed_entry (
  -- AUTOINCREMENT: a reader that saw entry n asks for the ones above n.
  entry_id INTEGER PRIMARY KEY AUTOINCREMENT,
  feed_id INTEGER NOT NULL REFERENCES feed,
  post_id INTEGER NOT NULL REFERENCES post,
  -- Less is nearer to the top; equal keys are ordered by id.
  sort_key INTEGER NOT NULL,
  -- The post's own, so that the order is read from this table alone.
  id TEXT NOT NULL,
  published_at INTEGER,
  rank INTEGER CHECK (rank >= 0),
  since INTEGER NOT NULL CHECK (since >= 1),
  until INTEGER CHECK (until > since)
) STRICT;
INSERT INTO "feed_entry" VALUES(1,1,1,4609936051227387904,'story-mira-1',1749967200000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(2,1,2,4609936051197387904,'story-mira-2',1749967230000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(3,1,3,4609936051167387904,'story-mira-3',1749967260000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(4,1,4,4609936056627387904,'story-bee',1749961800000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(5,1,5,4609936052427387904,'story-ferry-late',1749966000000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(6,1,6,4609936083627387904,'story-fireworks',1749934800000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(7,1,7,9223372036854775807,'story-tide-table',NULL,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(8,1,8,9223372036854775807,'story-house-rules',NULL,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(9,1,9,9223372036854775807,'story-quiz',NULL,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(10,1,10,9223372036854775807,'story-sponsor',NULL,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(11,1,11,9223372036854775807,'story-empty',NULL,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(12,1,12,4612897735227387904,'archive-launch-1931',-1211716800000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(13,1,13,4609936141697387904,'first-ferry',1749876730000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(14,1,14,4609936105088387904,'flower-crown',1749913339000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(15,2,15,4609938254427387904,'knots-1-bowline',1747764000000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(16,2,16,4609938168027387904,'knots-2-sheet-bend',1747850400000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(17,2,17,4609938081627387904,'knots-3-the-one-that-fails',1747936800000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(18,2,18,4609937156427387904,'seal-yawn',1748862000000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(19,2,19,4609936914627387904,'drone-over-the-saltings',1749103800000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(20,2,20,4609936791027387904,'skipping-stones',1749227400000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(21,2,21,4609937257227387904,'tram-no-4',1748761200000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(22,2,22,4609937060427387904,'puddle-mirror',1748958000000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(23,2,23,4609938448827387904,'unknown-reel',1747569600000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(24,2,24,4609936616427387904,'choir-warm-up',1749402000000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(25,2,13,4609936141697387904,'first-ferry',1749876730000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(26,2,25,4609936317727137904,'bread-at-five',1749700700250000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(27,2,26,4609936540827387904,'storm-wall',1749477600000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(28,2,27,4609936779145387904,'starlings-over-the-mill',1749239282000000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(29,2,28,4609936027781887904,'trombone-duet',1749990645500000,NULL,1,NULL);
INSERT INTO "feed_entry" VALUES(30,2,29,4609936083627387904,'fireworks-from-the-boat',1749934800000000,NULL,1,NULL);
CREATE TABLE media (
  post_id INTEGER NOT NULL REFERENCES post,
  -- The place among the post's media, from 0.
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  kind TEXT NOT NULL CHECK (kind IN ('image', 'video')),
  url TEXT NOT NULL CHECK (url <> ''),
  mime_type TEXT CHECK (mime_type <> ''),
  codec TEXT CHECK (codec <> ''),
  width INTEGER CHECK (width > 0),
  height INTEGER CHECK (height > 0),
  duration_ms INTEGER CHECK (duration_ms >= 0),
  bytes INTEGER CHECK (bytes BETWEEN 0 AND 1099511627776),
  PRIMARY KEY (post_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO "media" VALUES(1,0,'image','https://media.example/story-mira-1/0.webp','image/webp',NULL,1080,1920,NULL,231008);
INSERT INTO "media" VALUES(2,0,'video','https://media.example/story-mira-2/0.mp4','video/mp4','h264',1080,1920,7000,1220415);
INSERT INTO "media" VALUES(3,0,'image','https://media.example/story-mira-3/0.webp','image/webp',NULL,1080,1920,NULL,204419);
INSERT INTO "media" VALUES(4,0,'image','https://media.example/story-bee/0.jpg','image/jpeg',NULL,1080,1920,NULL,255812);
INSERT INTO "media" VALUES(4,1,'image','https://media.example/story-bee/1.jpg','image/jpeg',NULL,1080,1920,NULL,247001);
INSERT INTO "media" VALUES(6,0,'video','https://media.example/story-fireworks/0.mp4','video/mp4','h264',1080,1920,5900,1098113);
INSERT INTO "media" VALUES(7,0,'image','https://media.example/story-tide-table/0.png','image/png',NULL,1080,1920,NULL,180552);
INSERT INTO "media" VALUES(10,0,'image','https://media.example/story-sponsor/0.jpg','image/jpeg',NULL,1080,1920,NULL,152260);
INSERT INTO "media" VALUES(12,0,'image','https://media.example/archive-launch-1931/0.jpg','image/jpeg',NULL,2200,1600,NULL,588301);
INSERT INTO "media" VALUES(13,0,'video','/media/first-ferry/0.mp4','video/mp4','h264',360,640,10000,209750);
INSERT INTO "media" VALUES(14,0,'image','https://media.example/flower-crown/0.jpg','image/jpeg',NULL,1080,1350,NULL,219054);
INSERT INTO "media" VALUES(15,0,'video','https://media.example/knots-1-bowline/0.mp4','video/mp4','h264',1280,720,35000,4120990);
INSERT INTO "media" VALUES(16,0,'video','https://media.example/knots-2-sheet-bend/0.mp4','video/mp4','h264',1280,720,33000,3980214);
INSERT INTO "media" VALUES(17,0,'video','https://media.example/knots-3-the-one-that-fails/0.mp4','video/mp4','h264',1280,720,41000,5017633);
INSERT INTO "media" VALUES(18,0,'video','https://media.example/seal-yawn/0.mp4','video/mp4','h264',480,854,3200,171008);
INSERT INTO "media" VALUES(19,0,'video','https://media.example/drone-over-the-saltings/0.mp4','video/mp4','av1',3840,2160,64000,24117902);
INSERT INTO "media" VALUES(20,0,'video','https://media.example/skipping-stones/0.mp4','video/mp4','h264',1080,1920,7600,1402233);
INSERT INTO "media" VALUES(21,0,'video','https://media.example/tram-no-4/0.mp4','video/mp4','h264',1920,1080,1860000,402118336);
INSERT INTO "media" VALUES(22,0,'video','https://media.example/puddle-mirror/0.webm','video/webm','vp9',720,1280,9800,NULL);
INSERT INTO "media" VALUES(23,0,'video','https://media.example/unknown-reel/reel-17',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "media" VALUES(24,0,'video','https://media.example/choir-warm-up/0.mp4','video/mp4','hevc',1080,1080,52000,NULL);
INSERT INTO "media" VALUES(25,0,'video','/media/bread-at-five/0.mp4','video/mp4','h264',360,640,8100,161937);
INSERT INTO "media" VALUES(26,0,'video','/media/storm-wall/0.mp4','video/mp4','h264',640,360,12000,279688);
INSERT INTO "media" VALUES(27,0,'video','/media/starlings-over-the-mill/0.webm','video/webm','vp9',640,360,10008,168044);
INSERT INTO "media" VALUES(28,0,'video','https://media.example/trombone-duet/0.mp4','video/mp4','h264',1080,1920,27400,5230944);
INSERT INTO "media" VALUES(29,0,'video','https://media.example/fireworks-from-the-boat/0.mp4','video/mp4','h264',1920,1080,21500,4711092);
CREATE TABLE network_profile (
  name TEXT PRIMARY KEY CHECK (name <> ''),
  title TEXT NOT NULL,
  -- Kilobits a second; 0 where nothing arrives.
  downlink_kbps INTEGER NOT NULL CHECK (downlink_kbps BETWEEN 0 AND 1000000000),
  uplink_kbps INTEGER NOT NULL CHECK (uplink_kbps BETWEEN 0 AND 1000000000),
  round_trip_ms INTEGER NOT NULL CHECK (round_trip_ms BETWEEN 0 AND 600000),
  loss_percent INTEGER NOT NULL DEFAULT 0 CHECK (loss_percent BETWEEN 0 AND 100),
  -- The ECT client hint that means this network.
  effective_type TEXT UNIQUE,
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO "network_profile" VALUES('3g','3G',780,330,200,0,'3g',1);
INSERT INTO "network_profile" VALUES('dsl','DSL',2000,256,10,0,NULL,0);
INSERT INTO "network_profile" VALUES('edge','EDGE',240,200,800,0,'2g',0);
INSERT INTO "network_profile" VALUES('lte','LTE',50000,10000,115,0,'4g',0);
INSERT INTO "network_profile" VALUES('offline','100 % loss',0,0,0,100,NULL,0);
INSERT INTO "network_profile" VALUES('very-bad','Very bad network',1000,1000,1000,10,'slow-2g',0);
INSERT INTO "network_profile" VALUES('wifi','Wi-Fi',40000,33000,2,0,NULL,0);
CREATE TABLE policy (
  policy_id INTEGER PRIMARY KEY,
  feed TEXT CHECK (feed <> ''),
  network TEXT NOT NULL REFERENCES network_profile,
  name TEXT NOT NULL CHECK (name <> ''),
  strategy TEXT NOT NULL CHECK (strategy IN ('plain', 'weighted')),
  max_cost INTEGER NOT NULL CHECK (max_cost BETWEEN 0 AND 1000000),
  leading INTEGER NOT NULL CHECK (leading BETWEEN 0 AND 100),
  trailing INTEGER NOT NULL DEFAULT 1 CHECK (trailing BETWEEN 0 AND 100),
  image_weight INTEGER NOT NULL DEFAULT 1 CHECK (image_weight BETWEEN 0 AND 1000),
  video_weight INTEGER NOT NULL DEFAULT 2 CHECK (video_weight BETWEEN 0 AND 1000),
  webapp_weight INTEGER NOT NULL DEFAULT 1 CHECK (webapp_weight BETWEEN 0 AND 1000),
  ad_weight INTEGER NOT NULL DEFAULT 1 CHECK (ad_weight BETWEEN 0 AND 1000),
  text_weight INTEGER NOT NULL DEFAULT 0 CHECK (text_weight BETWEEN 0 AND 1000),
  carousel_visible_parts INTEGER NOT NULL DEFAULT 1 CHECK (carousel_visible_parts BETWEEN 1 AND 100),
  video_start_bytes INTEGER NOT NULL DEFAULT 204800 CHECK (video_start_bytes BETWEEN 0 AND 1099511627776),
  video_bytes INTEGER NOT NULL DEFAULT 2097152 CHECK (video_bytes BETWEEN 0 AND 1099511627776),
  video_kbps INTEGER NOT NULL DEFAULT 800 CHECK (video_kbps BETWEEN 0 AND 1000000),
  image_bytes INTEGER NOT NULL DEFAULT 153600 CHECK (image_bytes BETWEEN 0 AND 1099511627776),
  webapp_bytes INTEGER NOT NULL DEFAULT 307200 CHECK (webapp_bytes BETWEEN 0 AND 1099511627776),
  next_page_percent INTEGER NOT NULL DEFAULT 70 CHECK (next_page_percent BETWEEN 0 AND 100),
  items_per_minute INTEGER NOT NULL DEFAULT 60 CHECK (items_per_minute BETWEEN 1 AND 6000)
) STRICT;
INSERT INTO "policy" VALUES(1,NULL,'wifi','weighted-10','weighted',10,10,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(2,NULL,'lte','weighted-10','weighted',10,10,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(3,NULL,'dsl','weighted-5','weighted',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(4,NULL,'3g','weighted-5','weighted',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(5,NULL,'very-bad','weighted-3','weighted',3,3,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(6,NULL,'edge','weighted-2','weighted',2,2,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(7,NULL,'offline','weighted-0','weighted',0,0,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(8,'featured','3g','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(9,'featured','dsl','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(10,'featured','edge','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(11,'featured','lte','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(12,'featured','offline','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(13,'featured','very-bad','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
INSERT INTO "policy" VALUES(14,'featured','wifi','plain-5','plain',5,5,1,1,2,1,1,0,1,204800,2097152,800,153600,307200,70,60);
CREATE TABLE post (
  -- AUTOINCREMENT: the number of a deleted post never comes to mean another one.
  post_id INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  type TEXT NOT NULL CHECK (type IN ('image', 'video', 'carousel', 'webapp', 'ad', 'text')),
  title TEXT CHECK (title <> ''),
  text TEXT CHECK (text <> ''),
  -- The years that RFC 3339 can write.
  published_at INTEGER
    CHECK (published_at BETWEEN -62167219200000000 AND 253402300799999999),
  author_id INTEGER REFERENCES author,
  url TEXT CHECK (url <> ''),
  thumbnail TEXT CHECK (thumbnail <> ''),
  -- A JSON array of texts.
  tags TEXT CHECK (tags <> '[]'),
  -- A JSON object of whole numbers.
  counters TEXT CHECK (counters <> '{}')
) STRICT;
INSERT INTO "post" VALUES(1,'story-mira-1','image',NULL,NULL,1749967200000000,1,NULL,NULL,NULL,NULL);
INSERT INTO "post" VALUES(2,'story-mira-2','video',NULL,NULL,1749967230000000,1,NULL,NULL,NULL,NULL);
INSERT INTO "post" VALUES(3,'story-mira-3','image','Back on Monday',NULL,1749967260000000,1,NULL,NULL,NULL,NULL);
INSERT INTO "post" VALUES(4,'story-bee','carousel','Today’s loaves',NULL,1749961800000000,2,NULL,NULL,NULL,'{"views":410}');
INSERT INTO "post" VALUES(5,'story-ferry-late','text','The 07:40 runs at 07:55','The captain says sorry, the fog says nothing.',1749966000000000,3,NULL,NULL,NULL,NULL);
INSERT INTO "post" VALUES(6,'story-fireworks','video','Ooh / aah',NULL,1749934800000000,4,NULL,NULL,NULL,'{"views":902}');
INSERT INTO "post" VALUES(7,'story-tide-table','image','Tide table (pinned)',NULL,NULL,5,'https://harbour.example/tides',NULL,'["pinned"]',NULL);
INSERT INTO "post" VALUES(8,'story-house-rules','text','House rules (pinned)','Be kind. Ask before you photograph. Credit whoever carried the tripod.',NULL,5,NULL,NULL,'["pinned"]',NULL);
INSERT INTO "post" VALUES(9,'story-quiz','webapp','Quiz: which buoy are you?',NULL,NULL,6,'https://apps.saltmere.example/buoy-quiz/',NULL,'["pinned","quiz"]',NULL);
INSERT INTO "post" VALUES(10,'story-sponsor','ad',NULL,NULL,NULL,NULL,'https://bookboat.example/stories',NULL,NULL,NULL);
INSERT INTO "post" VALUES(11,'story-empty','image','Scan to follow','The negative is still drying.',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "post" VALUES(12,'archive-launch-1931','image','Launch of the "Perseverance", 9 August 1931','From the harbour archive, dated as the plate is.',-1211716800000000,5,'https://saltmere.example/p/archive-launch-1931','https://media.example/archive-launch-1931/thumbnail.webp','["archive"]',NULL);
INSERT INTO "post" VALUES(13,'first-ferry','video','The first ferry of the morning','Forty minutes of fog, then this. Sound on for the horn.',1749876730000000,1,'https://saltmere.example/p/first-ferry','/media/first-ferry/thumbnail.webp','["harbour","ferry","dawn"]','{"comments":96,"likes":2140,"shares":131,"views":48210}');
INSERT INTO "post" VALUES(14,'flower-crown','image','Flower crown, model: Pepper 🐈‍⬛',NULL,1749913339000000,2,'https://saltmere.example/p/flower-crown',NULL,'["cats","midsummer"]','{"comments":88,"likes":1911,"views":14020}');
INSERT INTO "post" VALUES(15,'knots-1-bowline','video','Knots, part 1: the bowline',NULL,1747764000000000,5,'https://saltmere.example/p/knots-1-bowline','https://media.example/knots-1-bowline/thumbnail.webp','["knots","lesson"]','{"comments":18,"likes":720,"shares":61,"views":10450}');
INSERT INTO "post" VALUES(16,'knots-2-sheet-bend','video','Knots, part 2: the sheet bend',NULL,1747850400000000,5,'https://saltmere.example/p/knots-2-sheet-bend','https://media.example/knots-2-sheet-bend/thumbnail.webp','["knots","lesson"]','{"comments":11,"likes":604,"shares":40,"views":8201}');
INSERT INTO "post" VALUES(17,'knots-3-the-one-that-fails','video','Knots, part 3: the one that always fails',NULL,1747936800000000,5,'https://saltmere.example/p/knots-3-the-one-that-fails','https://media.example/knots-3-the-one-that-fails/thumbnail.webp','["knots","lesson"]','{"comments":102,"likes":1490,"shares":330,"views":20117}');
INSERT INTO "post" VALUES(18,'seal-yawn','video','Seal. Yawn. Loop.',NULL,1748862000000000,4,'https://saltmere.example/p/seal-yawn',NULL,'["seal","loop"]','{"comments":301,"likes":8820,"shares":2600,"views":190442}');
INSERT INTO "post" VALUES(19,'drone-over-the-saltings','video','Over the saltings',NULL,1749103800000000,7,'https://saltmere.example/p/drone-over-the-saltings','https://media.example/drone-over-the-saltings/thumbnail.webp','["aerial","marsh"]','{"comments":40,"likes":1230,"views":17744}');
INSERT INTO "post" VALUES(20,'skipping-stones','video','Fourteen skips',NULL,1749227400000000,8,'https://saltmere.example/p/skipping-stones',NULL,'["beach"]','{"comments":77,"likes":911,"views":13002}');
INSERT INTO "post" VALUES(21,'tram-no-4','video','Tram no. 4, the whole line','Thirty-one minutes, no cuts. Bring tea.',1748761200000000,9,'https://saltmere.example/p/tram-no-4','https://media.example/tram-no-4/thumbnail.webp','["tram","city","slow"]','{"comments":58,"likes":645,"views":15220}');
INSERT INTO "post" VALUES(22,'puddle-mirror','video','Puddle mirror',NULL,1748958000000000,9,'https://saltmere.example/p/puddle-mirror',NULL,'["rain"]','{"comments":8,"likes":530,"views":6001}');
INSERT INTO "post" VALUES(23,'unknown-reel','video',NULL,'No label on the tin. Any ideas who she is?',1747569600000000,10,'https://saltmere.example/p/unknown-reel',NULL,NULL,'{"comments":34,"likes":120,"views":2005}');
INSERT INTO "post" VALUES(24,'choir-warm-up','video','The fishermen’s choir warms up',NULL,1749402000000000,11,'https://saltmere.example/p/choir-warm-up','https://media.example/choir-warm-up/thumbnail.webp','["music","choir"]','{"comments":66,"likes":1760,"shares":188,"views":20908}');
INSERT INTO "post" VALUES(25,'bread-at-five','video','Bread at five','Third proof, second oven, one very patient baker. Recipe in the comments, as always.',1749700700250000,2,'https://saltmere.example/p/bread-at-five','/media/bread-at-five/thumbnail.webp','["bakery","morning","food"]','{"comments":233,"likes":4410,"shares":512,"views":101442}');
INSERT INTO "post" VALUES(26,'storm-wall','video','The wall, the wave, the man with the umbrella','He is fine. The umbrella is not.',1749477600000000,12,'https://saltmere.example/p/storm-wall','/media/storm-wall/thumbnail.webp','["storm","waves"]','{"comments":701,"likes":9834,"shares":2044,"views":240911}');
INSERT INTO "post" VALUES(27,'starlings-over-the-mill','video','Starlings over the mill',NULL,1749239282000000,7,'https://saltmere.example/p/starlings-over-the-mill','/media/starlings-over-the-mill/thumbnail.webp','["birds","dusk"]','{"comments":209,"likes":6120,"shares":911,"views":133870}');
INSERT INTO "post" VALUES(28,'trombone-duet','video','They played it',NULL,1749990645500000,5,'https://saltmere.example/p/trombone-duet','https://media.example/trombone-duet/thumbnail.webp','["music","midsummer"]','{"comments":207,"likes":2033,"shares":310,"views":21440}');
INSERT INTO "post" VALUES(29,'fireworks-from-the-boat','video','Fireworks from the boat',NULL,1749934800000000,12,'https://saltmere.example/p/fireworks-from-the-boat','https://media.example/fireworks-from-the-boat/thumbnail.webp','["fireworks","midsummer"]','{"comments":31,"likes":480,"shares":22,"views":6021}');
CREATE TABLE schema_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- XXH3, 128 bits, as xxh128sum prints it.
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT;
INSERT INTO "schema_migration" VALUES(1,'0001-feeds','1b60f68d70c33161365109c1735896ea','2026-11-21T08:58:26Z');
INSERT INTO "schema_migration" VALUES(2,'0002-first-policies','1e74f1ea556c530ce60ac55d015c1312','2026-11-21T08:58:26Z');
CREATE UNIQUE INDEX author_by_id ON author (id, coalesce(name, ''));
CREATE INDEX post_by_author ON post (author_id) WHERE author_id IS NOT NULL;
CREATE INDEX feed_entry_order ON feed_entry (feed_id, sort_key, id);
CREATE UNIQUE INDEX feed_entry_by_post ON feed_entry (post_id, feed_id, since);
CREATE INDEX feed_entry_closed ON feed_entry (feed_id, until) WHERE until IS NOT NULL;
CREATE INDEX feed_entry_opened ON feed_entry (feed_id, since) WHERE since > 1;
CREATE TRIGGER feed_entry_retimed AFTER UPDATE OF since, until, published_at ON feed_entry
BEGIN
  INSERT INTO change_log
    (kind, feed_id, post_id, sort_key, id, published_at, since, until, new_since, new_until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, NEW.published_at,
    OLD.since, OLD.until, NEW.since, NEW.until);
END;
CREATE TRIGGER feed_entry_gone AFTER DELETE ON feed_entry
WHEN OLD.until IS NULL
  OR OLD.until > (SELECT oldest_ranking FROM feed WHERE feed_id = OLD.feed_id)
BEGIN
  INSERT INTO change_log (kind, feed_id, post_id, sort_key, id, published_at, since, until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, OLD.published_at,
    OLD.since, OLD.until);
END;
CREATE TRIGGER post_gone BEFORE DELETE ON post BEGIN
  DELETE FROM feed_entry WHERE post_id = OLD.post_id;
  DELETE FROM media WHERE post_id = OLD.post_id;
END;
CREATE TRIGGER post_author_gone AFTER DELETE ON post BEGIN
  DELETE FROM author WHERE author_id = OLD.author_id
    AND NOT EXISTS (SELECT 1 FROM post WHERE author_id = OLD.author_id);
END;
CREATE TRIGGER feed_added AFTER INSERT ON feed BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER feed_leaves BEFORE DELETE ON feed BEGIN
  DELETE FROM feed_entry WHERE feed_id = OLD.feed_id;
END;
CREATE TRIGGER feed_gone AFTER DELETE ON feed BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER feed_changed AFTER UPDATE ON feed BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE UNIQUE INDEX network_profile_default ON network_profile (is_default) WHERE is_default = 1;
CREATE UNIQUE INDEX policy_of_feed ON policy (coalesce(feed, ''), network);
CREATE TRIGGER network_profile_added AFTER INSERT ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER network_profile_changed AFTER UPDATE ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER network_profile_gone AFTER DELETE ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER policy_added AFTER INSERT ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER policy_changed AFTER UPDATE ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER policy_gone AFTER DELETE ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('change_log',4);
INSERT INTO "sqlite_sequence" VALUES('feed',2);
INSERT INTO "sqlite_sequence" VALUES('post',29);
INSERT INTO "sqlite_sequence" VALUES('feed_entry',30);
COMMIT;
