// Closes a discriminated union: the compiler rejects a missing case, and the throw catches data of the wrong type.
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
