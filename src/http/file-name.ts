// The caller's file name as a hint: never a path, never able to disturb a log or a form (bad-input cases 140-146, 191).

/** The last path segment without control, format and quote characters; null when nothing useful is left. */
export function safeFileName(name: string | null): string | null {
  const last = name?.split(/[/\\]/).at(-1) ?? "";
  const safe = last.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}"]/gu, "").trim();
  return safe === "" || safe === "." || safe === ".." ? null : safe;
}
