// Builds the body of a PUT, which replaces the whole object: fields that a form does not offer keep their values.

/** `offered`: fields of the form, where empty means none. */
export function wholeBody(
  read: Readonly<Record<string, unknown>>,
  offered: readonly string[],
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const preserved = Object.entries(read).filter(([name]) => !offered.includes(name));
  return { ...Object.fromEntries(preserved), ...given };
}
