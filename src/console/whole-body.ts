// The body of a PUT, which replaces the whole object: what a form does not offer stays as it was read.

/** `offered`: what the form can fill in, so that what is empty there is meant to be none. */
export function wholeBody(
  read: Readonly<Record<string, unknown>>,
  offered: readonly string[],
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const kept = Object.entries(read).filter(([name]) => !offered.includes(name));
  return { ...Object.fromEntries(kept), ...given };
}
