import { z } from 'zod';
import type { CatalogNames } from './schema.ts';

/** Schema of the parts of the file with cross-references. Everything else is ignored here, valid or not. */
const referencesSchema = z.looseObject({
  upstreams: z.looseObject({ nodes: z.array(z.unknown()).catch([]) }).catch({ nodes: [] }),
  health: z.looseObject({ maintenance: z.array(z.unknown()).catch([]) }).catch({ maintenance: [] }),
  datasets: z.record(z.string(), z.record(z.string(), z.unknown()).catch({})).catch({}),
});
const node = z.looseObject({ name: z.string() });
const window = z.looseObject({ nodes: z.array(z.unknown()) });

/** Returns settings that are valid but have no effect, each with its path and the reason. */
export function findNoOpSettings(value: unknown, names: CatalogNames): string[] {
  const read = referencesSchema.safeParse(value);
  if (!read.success) return [];
  const { upstreams, health, datasets } = read.data;
  const nodes = upstreams.nodes.flatMap((one) => node.safeParse(one).data?.name ?? []);
  const there = nodes.length > 0 ? `there are ${nodes.join(', ')}` : 'there are none';
  const unknownNodes = health.maintenance.flatMap((one, at) =>
    (window.safeParse(one).data?.nodes ?? []).flatMap((name, place) =>
      typeof name !== 'string' || nodes.includes(name)
        ? []
        : [`health.maintenance[${at}].nodes[${place}]: there is no node "${name}"; ${there}`],
    ),
  );
  const overrides = Object.entries(datasets).flatMap(([dataset, override]) =>
    Object.entries(override).flatMap(([setting, set]) => {
      const reason = set === undefined ? null : names.withoutEffect(dataset, setting);
      return reason === null ? [] : [`datasets.${dataset}.${setting}: has no effect: ${reason}`];
    }),
  );
  return [...unknownNodes, ...overrides];
}
