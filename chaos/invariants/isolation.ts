import type { ServedList } from '../servers/poisoned-upstream.ts';
import type { World } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** L: one invalid item affects only itself. */
export const isolated: Invariant = {
  letter: 'L',
  description:
    'all but the poisoned part is stored, the part is in the quarantine once, nothing it touches is claimed',
  async check(world) {
    if (!world.poisoned) return ['no upstream whose poisons are known'];
    const { lists } = world.poisoned;
    if (lists.every(({ poisons }) => poisons.size === 0)) return ['nothing poisoned was sent'];
    const problems = await Promise.all(
      lists.map(async (list) => [
        ...(await wronglyStored(world, list)),
        ...(await wronglyQuarantined(world, list)),
        ...(await wronglyClaimed(world, list)),
      ]),
    );
    return problems.flat();
  },
};

/** Members that are lost, ended, repeated, or stored though they are poisoned. */
async function wronglyStored({ sql, evidence }: World, list: ServedList): Promise<string[]> {
  const { dataset, column, members, sound, contradicts } = list;
  const rows = await sql<{ key: string; current: number; marked: boolean }[]>`
    select ${sql(column)}::text as key, (count(*) filter (where valid_to is null))::int as current,
      bool_or(extra->>'mark' is not null) as marked
    from recorder.${sql(dataset)} group by 1`;
  const stored = new Map(rows.map((row) => [row.key, row]));
  const departed = new Set(sound);
  for (const { key } of members) if (key !== null) departed.delete(key);
  // An item with an unreadable key may be any member: then none is ended.
  const retires = !contradicts && members.every(({ key }) => key !== null);
  evidence.figures.set(
    `${dataset}: had to be stored, left, were poisoned, polls`,
    [sound.size, departed.size, list.poisons.size, list.sentCount].join(', '),
  );
  const problems: string[] = [];
  const lost = [...sound].filter((key) => !stored.has(key));
  if (lost.length > 0)
    problems.push(`${dataset}: ${lost.length} of ${sound.size} are lost: ${lost.slice(0, 3)}`);
  for (const { key, current, marked } of rows) {
    if (marked || !sound.has(key)) problems.push(`${dataset}: the poisoned ${key} is stored`);
    else if (current !== (departed.has(key) && retires ? 0 : 1))
      problems.push(
        `${dataset}: ${key} ${departed.has(key) ? 'left' : 'is listed'} and has ${current} current rows`,
      );
  }
  return problems;
}

/** Poisons that are not in the quarantine, or more than once, and other items in it. */
async function wronglyQuarantined(
  { sql, evidence }: World,
  { dataset, poisons }: ServedList,
): Promise<string[]> {
  const rows = await sql<{ item: string; times: number; reason: string }[]>`
    select item, times::int as times, reason from reporting.quarantine where dataset = ${dataset} order by id`;
  const problems: string[] = [];
  for (const [mark, sent] of poisons) {
    const found = rows.filter(({ item }) => item.includes(`"${mark}"`));
    const times = found[0]?.times ?? 0;
    if (found.length !== 1) problems.push(`${dataset}: ${mark} is in the quarantine ${found.length} times`);
    else if (times < 2 || times > sent)
      problems.push(`${dataset}: ${mark} was sent ${sent} times, counted ${times}`);
    for (const { reason } of found)
      evidence.figures.set(
        `${dataset}: ${mark}`,
        `sent ${sent} times, counted ${times}: ${reason.slice(0, 120)}`,
      );
  }
  if (rows.length !== poisons.size)
    problems.push(`${dataset}: ${rows.length} items in the quarantine, ${poisons.size} poisons`);
  return problems;
}

/** A dataset that lacks a sent item reports it. */
async function wronglyClaimed({ sql }: World, { dataset, members }: ServedList): Promise<string[]> {
  const poisoned = members.some(({ mark }) => mark !== null);
  const [row] = await sql<{ complete: boolean }[]>`
    select incomplete_since is null as complete from reporting.freshness where dataset = ${dataset}`;
  return row?.complete === !poisoned
    ? []
    : [`${dataset}: freshness reports ${poisoned ? 'complete' : 'incomplete'}`];
}
