// Writes the captions of a video next to it, as WebVTT for <track> in a page and as SRT for players.
//   npm install ./patchbay-gateway-*.tgz      # the packed file: docs/guides/install.md
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… node captions-for-a-video.ts talk.mp4
// To put them into the file as well: ffmpeg -i talk.mp4 -i talk.srt -c copy -c:s mov_text talk-with-captions.mp4
import { writeFile } from "node:fs/promises";
import { argv } from "node:process";
import { Patchbay } from "patchbay-gateway/client";

const path = argv[2];
if (path === undefined) throw new Error("usage: node captions-for-a-video.ts FILE");

const patchbay = new Patchbay(); // reads PATCHBAY_URL and PATCHBAY_API_KEY
// A job: a long video survives a restart of the gateway, and one result is exported in both formats.
const { job_id: id } = await patchbay.jobs.submit({ path }, { timestamps: "segment" });
// Throws the error of a job that failed.
await patchbay.jobs.result(await patchbay.jobs.wait(id));
for (const format of ["vtt", "srt"] as const) {
  const file = path.replace(/\.\w+$/u, `.${format}`);
  await writeFile(file, await patchbay.jobs.captions(id, format));
  console.log(`wrote ${file}`);
}
