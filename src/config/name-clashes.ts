import { z } from 'zod';

const list = z.array(z.unknown()).catch([]);
const named = z.looseObject({ name: z.string() });
/** Schema of the parts of the file with named members. Everything else is ignored here, valid or not. */
const namedPartsSchema = z.looseObject({
  upstreams: z.looseObject({ nodes: list }).catch({ nodes: [] }),
  changes: z.looseObject({ sinks: list }).catch({ sinks: [] }),
  alerts: z.looseObject({ channels: list, rules: list }).catch({ channels: [], rules: [] }),
});
const rule = z.looseObject({ channels: list });

/** Reserved channel name under which the state of the heartbeat is stored. */
export const HEARTBEAT_CHANNEL = 'heartbeat';

/**
 * Finds duplicate names, and unknown channels in rules. The function reads the raw file, so that these problems
 * are reported together with all others.
 * @returns the problems with their paths
 */
export function findNameClashes(value: unknown): string[] {
  const read = namedPartsSchema.safeParse(value);
  if (!read.success) return [];
  const { upstreams, changes, alerts } = read.data;
  const channels = namesOf(alerts.channels).flatMap((name) => name ?? []);
  const there = channels.length > 0 ? `there are ${channels.join(', ')}` : 'there are none';
  const unknownChannels = alerts.rules.flatMap((one, at) =>
    (rule.safeParse(one).data?.channels ?? []).flatMap((name, place) =>
      typeof name !== 'string' || channels.includes(name)
        ? []
        : [`alerts.rules[${at}].channels[${place}]: there is no channel "${name}"; ${there}`],
    ),
  );
  return [
    ...findDuplicates('upstreams.nodes', upstreams.nodes),
    ...findDuplicates('changes.sinks', changes.sinks),
    ...findDuplicates('alerts.channels', alerts.channels, [HEARTBEAT_CHANNEL]),
    ...findDuplicates('alerts.rules', alerts.rules),
    ...unknownChannels,
  ];
}

const namesOf = (all: readonly unknown[]) => all.map((one) => named.safeParse(one).data?.name);

function findDuplicates(path: string, all: readonly unknown[], reserved: readonly string[] = []): string[] {
  const before = new Set<string>(reserved);
  return namesOf(all).flatMap((name, at) => {
    if (name === undefined) return [];
    if (before.has(name)) return [`${path}[${at}].name: "${name}" is taken: names are unique`];
    before.add(name);
    return [];
  });
}
