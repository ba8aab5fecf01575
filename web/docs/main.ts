// The scripts of a documentation page: search, theme, buttons that copy code, tabs.
import { render } from "preact";
import { CodeTabs, type CodeTab } from "../ui/code-tabs.ts";
import { CopyButton } from "../ui/copy-button.ts";
import { mountHeader } from "../ui/header.ts";
import { html } from "../ui/html.ts";

/** Both are before the calls below, which read them. */
const OUTPUT = "text";
const LANGUAGES: Readonly<Record<string, string>> = { sh: "Shell", ts: "TypeScript", js: "JavaScript", py: "Python", yaml: "YAML", json: "JSON" };

mountHeader();
addCodeTabs();
for (const block of document.querySelectorAll("main pre")) if (block.closest(".code-tabs") === null) addCopyButton(block);
openNavigationOnWideScreens();

function addCopyButton(block: Element): void {
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block);
  // Keyboards scroll a wide block.
  block.setAttribute("tabindex", "0");
  const place = document.createElement("div");
  frame.append(place);
  render(html`<${CopyButton} text=${block.textContent.trimEnd()} />`, place);
}

/** Code blocks that follow each other directly, each in another language, become tabs. A command and what it prints stay below each other. */
function addCodeTabs(): void {
  for (const first of document.querySelectorAll("main pre + pre:not(pre + pre + pre)")) {
    const start = first.previousElementSibling;
    if (start === null) continue;
    const blocks = [start];
    for (let next = start.nextElementSibling; next?.tagName === "PRE"; next = next.nextElementSibling) blocks.push(next);
    const tabs = blocks.map(tabOf);
    if (tabs.some(({ label }) => label === OUTPUT)) continue;
    if (new Set(tabs.map(({ label }) => label)).size < tabs.length) continue;
    const place = document.createElement("div");
    start.before(place);
    for (const block of blocks) block.remove();
    render(html`<${CodeTabs} tabs=${tabs} />`, place);
  }
}

function tabOf(block: Element): CodeTab {
  const language = /language-(\S+)/u.exec(block.querySelector("code")?.className ?? "")?.[1] ?? OUTPUT;
  return { label: LANGUAGES[language] ?? language, code: block.textContent.trimEnd() };
}

function openNavigationOnWideScreens(): void {
  const navigation = document.querySelector("details.navigation");
  const isWide = matchMedia("(min-width: 60rem)");
  const follow = (): void => {
    navigation?.toggleAttribute("open", isWide.matches);
  };
  isWide.addEventListener("change", follow);
  follow();
}
