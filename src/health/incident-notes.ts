import type postgres from 'postgres';

/** A comment by a user about an incident of a node. Times are in ms since 1970. */
export interface IncidentNote {
  readonly node: string;
  readonly at: number;
  readonly author: string;
  readonly note: string;
}

/**
 * Stores a note.
 * @returns the id of the note
 */
export async function storeIncidentNote(
  sql: postgres.Sql,
  { node, at, author, note }: IncidentNote,
  now: number,
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into recorder.incident_notes (node, at, author, note, written_at)
    values (${node}, ${new Date(at)}, ${author}, ${note}, ${new Date(now)}) returning id`;
  return row?.id ?? 0;
}
