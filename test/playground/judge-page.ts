// Checks a page on a narrow screen and with axe [console.accessible].
import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** Of a page that is 360 px wide: nothing that axe finds serious, and nothing beyond its side. */
export async function judgePage(page: Page, colorScheme: "light" | "dark", where: string): Promise<void> {
  // In the page itself: it has no frames, for which another page would be opened each time.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  // The theme changes colours and nothing else.
  const { violations } = await (colorScheme === "light" ? axe : axe.withRules(["color-contrast"])).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" "))]),
    [],
    where,
  );
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360, where);
}
