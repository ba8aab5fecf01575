// Resources that last as long as an answer that is sent piece by piece: the request counts as running until its last event.
export async function* whileHolding<T>(
  resources: Disposable | AsyncDisposable,
  items: AsyncIterable<T>,
): AsyncGenerator<T> {
  await using _ = resources;
  yield* items;
}
