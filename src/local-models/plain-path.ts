// Decides whether a path of an archive or a record stays below the directory that it is joined to [local-models.archive-paths].

/** Relative, with forward slashes, without `.`, `..` and empty steps, and without characters that mean something to a file system. */
export function isPlainPath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (path === "" || /[\\:\u0000-\u001f\u007f]/u.test(path)) return false;
  return path.split("/").every((step) => step !== "" && step !== "." && step !== "..");
}
