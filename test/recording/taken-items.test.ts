import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TakenItems } from '../../src/recording/taken-items.ts';

/** A page as it is said: an item a key; null: an item without a key that can be read. */
const page = fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { freq: 4 }), { maxLength: 6 });

it('tells the last item of each key, those of earlier pages read again', () => {
  fc.assert(
    fc.property(fc.array(page, { maxLength: 8 }), fc.nat({ max: 8 }), (pages, mark) => {
      const taken = new TakenItems();
      const last = new Map<string, object>();
      let [number, before] = [0, { size: 0, last: new Map<string, object>() }];
      pages.forEach((keys, at) => {
        if (at === mark) before = { size: taken.size, last: new Map(last) };
        const made = () => keys.map((key) => ({ key, page: at }));
        const items = made();
        taken.begin(items, made);
        keys.forEach((key, index) => {
          for (const [known, item] of last) expect(taken.get(known)).toEqual(item);
          if (key === null) return;
          taken.set(key, items[index], index);
          last.set(key, { key, page: at });
          // What is on the page itself is the item itself: so it is known that both came at once.
          expect(items).toContain(taken.get(key));
        });
        taken.end();
        number += items.length;
        expect(taken.size).toBe(number);
      });
      const earlier = taken.before(before.size);
      for (const key of 'abcde') {
        expect(taken.get(key)).toEqual(last.get(key));
        // An item that came again later is known as the later one.
        if (last.get(key) === before.last.get(key)) expect(earlier.get(key)).toEqual(before.last.get(key));
        else expect(earlier.get(key)).toBeUndefined();
        const own = { key, own: true };
        earlier.set(key, own, 0);
        expect(earlier.get(key)).toBe(own);
        expect(taken.get(key)).toEqual(last.get(key));
      }
    }),
  );
});

it('reads a page once for all of its items that come again in a row', () => {
  const taken = new TakenItems();
  let reads = 0;
  const items = Array.from({ length: 1_000 }, (_, at) => ({ at }));
  const read = () => {
    reads += 1;
    return items;
  };
  taken.begin(items, read);
  items.forEach((item, at) => {
    taken.set(String(at), item, at);
  });
  taken.end();
  for (const item of items) expect(taken.get(String(item.at))).toBe(item);
  expect(reads).toBe(1);
});
