import type { Window } from '../datasets/contract.ts';

/** The parts of `whole` that none of the `parts` holds, oldest first. */
export function subtract(whole: Window, parts: readonly Window[]): Window[] {
  const left: Window[] = [];
  let from = whole.from;
  for (const part of [...parts].sort((a, b) => a.from - b.from)) {
    if (part.to <= from || part.from >= whole.to) continue;
    if (part.from > from) left.push({ from, to: part.from });
    from = Math.max(from, part.to);
  }
  if (from < whole.to) left.push({ from, to: whole.to });
  return left;
}

/** The windows, without what lies after `until`. */
export function upTo(windows: readonly Window[], until: number): Window[] {
  return windows.flatMap(({ from, to }) => (from < until ? [{ from, to: Math.min(to, until) }] : []));
}

/** Cuts a window into pieces of at most `span`, newest first; every piece but the oldest has the full length. */
export function pieces(window: Window, span: number): Window[] {
  const cut: Window[] = [];
  for (let to = window.to; to > window.from; to -= span)
    cut.push({ from: Math.max(window.from, to - span), to });
  return cut;
}

/** Reads PostgreSQL's text of an int8multirange, such as `{[1,5),[8,9)}`. */
export function parseMultirange(text: string): Window[] {
  return [...text.matchAll(/\[(-?\d+),(-?\d+)\)/g)].map(([, from, to]) => ({
    from: Number(from),
    to: Number(to),
  }));
}

/** The parts that both lists hold, oldest first. Each list is sorted and has no overlaps. */
export function common(one: readonly Window[], other: readonly Window[]): Window[] {
  return one.flatMap((a) =>
    other.flatMap((b) => {
      const part = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
      return part.from < part.to ? [part] : [];
    }),
  );
}

/** Whether two windows have a part in common. */
export function touches(one: Window, other: Window): boolean {
  return one.from < other.to && other.from < one.to;
}
