// A stream in other words, one for one. No generator: a piece of a stream passes enough of them.

export function worded<Part, Event>(parts: AsyncIterable<Part>, word: (part: Part) => Event): AsyncIterable<Event> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = parts[Symbol.asyncIterator]();
      return {
        next: async () => {
          const result = await iterator.next();
          return result.done === true ? { done: true, value: undefined } : { done: false, value: word(result.value) };
        },
        return: async () => {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
