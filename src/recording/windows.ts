import type { Window } from '../datasets/contract.ts';

/** Returns the parts of `whole` that none of the `parts` contains, oldest first. */
export function subtractWindows(whole: Window, parts: readonly Window[]): Window[] {
  const remaining: Window[] = [];
  let from = whole.from;
  for (const part of [...parts].sort((a, b) => a.from - b.from)) {
    if (part.to <= from || part.from >= whole.to) continue;
    if (part.from > from) remaining.push({ from, to: part.from });
    from = Math.max(from, part.to);
  }
  if (from < whole.to) remaining.push({ from, to: whole.to });
  return remaining;
}

/** Returns the windows, cut at `until`. */
export function clipWindows(windows: readonly Window[], until: number): Window[] {
  return windows.flatMap(({ from, to }) => (from < until ? [{ from, to: Math.min(to, until) }] : []));
}

/**
 * Cuts a window into pieces of at most `span`, newest first. Every piece but the oldest has the full length.
 */
export function splitWindow(window: Window, span: number): Window[] {
  const cut: Window[] = [];
  for (let to = window.to; to > window.from; to -= span)
    cut.push({ from: Math.max(window.from, to - span), to });
  return cut;
}

/** Parses the text of a PostgreSQL int8multirange, such as `{[1,5),[8,9)}`. */
export function parseMultirange(text: string): Window[] {
  return [...text.matchAll(/\[(-?\d+),(-?\d+)\)/g)].map(([, from, to]) => ({
    from: Number(from),
    to: Number(to),
  }));
}

/** Returns the intersection of two lists, oldest first. Each list must be sorted and without overlaps. */
export function intersectWindows(one: readonly Window[], other: readonly Window[]): Window[] {
  return one.flatMap((a) =>
    other.flatMap((b) => {
      const part = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
      return part.from < part.to ? [part] : [];
    }),
  );
}

/** Returns whether two windows overlap. */
export function overlaps(one: Window, other: Window): boolean {
  return one.from < other.to && other.from < one.to;
}
