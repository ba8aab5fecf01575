// Closes a discriminated union: the compiler refuses a forgotten member, the throw catches data that lied about its type.
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
