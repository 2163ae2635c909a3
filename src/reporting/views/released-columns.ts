import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Declared } from '../../db/declared.ts';
import { packageFile } from '../../lib/package-file.ts';

/** Types by the name of their column or parameter, in order. */
const shape = z.record(z.string(), z.string());
const released = z.strictObject({
  version: z.string(),
  objects: z.record(
    z.string(),
    z.strictObject({
      kind: z.enum(['view', 'function']),
      /** Types of the parameters, only for functions. */
      parameters: shape.optional(),
      /** The type of the single value that a function returns. */
      value: z.string().optional(),
      columns: shape,
    }),
  ),
});

/**
 * The objects of `reporting` in a version, by name, with the types of their columns and parameters, in order.
 */
export type Released = z.output<typeof released>;

/** The file with the last release. */
export const RELEASED = packageFile('drizzle/reporting.json');

/**
 * The objects of `reporting` in the last release. Users depend on these objects: no object is removed, and
 * new columns are appended.
 */
export const lastRelease: Released = released.parse(JSON.parse(readFileSync(RELEASED, 'utf8')));

/** Converts the declared objects to the format of a release. */
export function releasedAs(version: string, declared: readonly Declared[]): Released {
  const types = (all: readonly { readonly name: string; readonly type: string }[]) =>
    Object.fromEntries(all.map(({ name, type }) => [name, type]));
  const objects = declared.map((object) => {
    const { kind, name } = object;
    const columns = types(object.columns);
    if (kind === 'view') return [name, { kind, columns }] as const;
    const { parameters, value } = object;
    return [
      name,
      { kind, parameters: types(parameters), ...(value === undefined ? {} : { value }), columns },
    ] as const;
  });
  return { version, objects: Object.fromEntries(objects.sort(([one], [other]) => (one < other ? -1 : 1))) };
}

/**
 * Returns the incompatible changes from an earlier to a later version, as sentences: removed or moved objects
 * and columns. New columns at the end are compatible.
 */
export function findIncompatibleChanges(earlier: Released, later: Released): string[] {
  const spelled = (types: z.output<typeof shape> = {}) =>
    Object.entries(types).map(([name, type]) => `${name} ${type}`);
  return Object.entries(earlier.objects).flatMap(([name, object]) => {
    const now = later.objects[name];
    if (now?.kind !== object.kind) return [`${name} is no ${object.kind} any more`];
    const called = (one: typeof object) =>
      `(${spelled(one.parameters).join(', ')}) ${one.value ?? ''}`.trim();
    const columns = spelled(now.columns);
    return [
      ...(called(now) === called(object) ? [] : [`${name}${called(object)} is ${name}${called(now)} now`]),
      ...spelled(object.columns).flatMap((column, place) =>
        columns[place] === column ? [] : [`${name}: ${column} is not column ${place + 1} any more`],
      ),
    ];
  });
}

/**
 * Sorts the columns of an object: first the columns of the last release, in the order of that release, then
 * new columns.
 */
export function sortAsReleased<C extends { readonly name: string }>(
  object: string,
  columns: readonly C[],
): C[] {
  const order = Object.keys(lastRelease.objects[object]?.columns ?? {});
  const place = ({ name }: C) => (order.includes(name) ? order.indexOf(name) : order.length);
  return columns.toSorted((one, other) => place(one) - place(other));
}
