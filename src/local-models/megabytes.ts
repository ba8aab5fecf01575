// Formats sizes in decimal megabytes, as download pages do.
export function megabytes(bytes: number): string {
  const value = bytes / 1_000_000;
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} MB`;
}
