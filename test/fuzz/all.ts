// Every fuzz property by its name; fingerprints, transcripts and chat replies have theirs next to their tests.
import { base64 } from "./base64.ts";
import { json, multipart } from "./bodies.ts";
import { events } from "./events.ts";
import type { Fuzz } from "./fuzz.ts";
import { http } from "./http.ts";
import { jobs } from "./jobs.ts";
import { media, readers } from "./media.ts";
import { routing } from "./routing.ts";

export const FUZZES: Readonly<Record<string, Fuzz>> = {
  multipart,
  json,
  base64,
  media,
  readers,
  events,
  routing,
  http,
  jobs,
};
