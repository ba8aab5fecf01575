// Chromium for the tests of pages, out of an npm package, which holds it for x64 Linux. One browser for all tests of a file.
import { tmpdir } from "node:os";
import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** Its own list of switches would turn off what is tested here: origins, and the policy of what may be loaded. */
const SWITCHES = [
  "--no-sandbox",
  "--disable-setuid-sandbox",
  "--no-zygote",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--autoplay-policy=no-user-gesture-required",
  // A microphone that beeps.
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
];

/** Or why there is none. */
export async function openBrowser(): Promise<Browser | string> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `the Chromium of the tests is for Linux on x64, not for ${process.platform} on ${process.arch}`;
  try {
    return await chromium.launch({ executablePath: await sparticuz.executablePath(), args: SWITCHES, timeout: 60_000 });
  } catch (error) {
    return `Chromium does not start here (unpacked in ${tmpdir()}): ${error instanceof Error ? error.message : "unknown"}`;
  }
}
