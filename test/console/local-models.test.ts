// Models that run on this machine, in a real browser.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { archiveSource, demoTar, specWith } from "../local-models/demo-model.ts";
import { serve, testOutbound } from "../local-models/lying-server.ts";
import { assertAccessible, assertNarrow, confirm, press, screenText, startConsoleWorld } from "./world.ts";

test("console.local-models: a model is pulled after its licence was shown, its progress is shown, and it is installed", async (t) => {
  const content = await demoTar();
  const goOn = Promise.withResolvers<void>();
  const download = await serve(t, content, (_request, response, whole) => {
    response.writeHead(200, { "content-length": whole.length });
    response.write(whole.subarray(0, whole.length >> 1));
    void goOn.promise.then(() => response.end(whole.subarray(whole.length >> 1)));
  });
  const spec = specWith(archiveSource(download.url, content));
  const world = await startConsoleWorld({
    modelSource: { manifest: [spec], hosts: [download.host], outbound: testOutbound(t) },
  });
  t.after(() => world.close());
  const page = await world.operator(t, "#/local-models");
  if (page === null) return goOn.resolve();
  assert.match(await screenText(page), /demo-model.*not installed.*second-hand.*CC-BY-4\.0/su);
  await assertAccessible(page);
  await assertNarrow(page);
  await press(page, "Pull: demo-model");
  await page.getByRole("dialog").getByText("This accepts the licence CC-BY-4.0").waitFor();
  await confirm(page, "Pull");
  await page.getByText(/downloading (49|50)/u).waitFor();
  goOn.resolve();
  await page.locator(".mark.good", { hasText: "installed" }).waitFor();
  assert.match(await screenText(page), /confirmed/u);
  assert.equal(download.ranges.length, 1);
});
