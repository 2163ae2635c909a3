import type postgres from 'postgres';
import type { AlertRule } from '../rule.ts';

/**
 * Returns an SQL query for the state of nodes and of each of their checks at a moment, by observer
 * (reporting.node_health_as_of). The column `is_known` is true if the state is known. The state is unknown if
 * the node did not respond to the probe, or the probe is older than 5 minutes.
 */
export const selectHealthAt = (sql: postgres.Sql, at: Date, nodes: readonly string[]) => sql`
  select l.*, l.state <> 'unknown' and l.observed_at > ${at}::timestamptz - interval '5 minutes' as is_known
  from reporting.node_health_as_of(${at}::timestamptz) l
  where (l.probe = 'health' or l.probe like 'health:%') and l.node = any(${[...nodes]}::text[])`;

/**
 * Returns the node of a subject, and the probe of its tag if the subject has a tag. Names of nodes and tags
 * contain no space.
 */
export const dependsOnNode: NonNullable<AlertRule['dependsOn']> = ({ subject }) => {
  const [node = '', tag] = subject.split(' ');
  return tag === undefined ? [node] : [node, `health:${tag}`];
};
