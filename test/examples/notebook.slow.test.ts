import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { letRead } from '../server/pages/revised-point.ts';
import { withDatabase } from '../support/fixture.ts';

const NOTEBOOK = fileURLToPath(new URL('../../examples/notebook/recorder.ipynb', import.meta.url));
const output = z.looseObject({ output_type: z.string() });
const notebook = z.object({
  cells: z.array(z.object({ id: z.string(), cell_type: z.string(), outputs: z.array(output).optional() })),
});

/** Debian's own Python has the packages of Debian: jupyter-nbconvert, python3-ipykernel, python3-pandas, python3-matplotlib, python3-psycopg2. */
const PYTHON = '/usr/bin/python3';
const missing = (() => {
  try {
    execFileSync(PYTHON, ['-c', 'import nbconvert, ipykernel, pandas, matplotlib, psycopg2'], {
      stdio: 'pipe',
    });
    return '';
  } catch {
    return ` (skipped: ${PYTHON} has not all of nbconvert, ipykernel, pandas, matplotlib and psycopg2)`;
  }
})();

const { it, database, sql } = withDatabase({ recorded: true, max: 1 });
beforeAll(() => letRead(sql));

it('is stored without outputs, which are private', () => {
  const { cells } = notebook.parse(JSON.parse(readFileSync(NOTEBOOK, 'utf8')));
  expect(readFileSync(NOTEBOOK, 'utf8')).toContain('-c timezone=UTC');
  expect(cells.length).toBeGreaterThan(10);
  expect(cells.flatMap(({ outputs = [] }) => outputs)).toEqual([]);
  expect(new Set(cells.map(({ id }) => id)).size).toBe(cells.length);
});

it.skipIf(missing)(
  `runs from its first cell to its last as a reader${missing}`,
  { timeout: 240_000 },
  async () => {
    const role = `notebook_${new URL(database.url).pathname.slice(1)}`;
    await sql.unsafe(`create role ${role} login password 'notebook'; grant recorder_reader to ${role}`);
    const scratch = mkdtempSync(join(tmpdir(), 'recorder-notebook-'));
    try {
      const url = new URL(database.url);
      url.username = role;
      url.password = 'notebook';
      await promisify(execFile)(
        PYTHON,
        [
          '-m',
          'nbconvert',
          '--to',
          'notebook',
          '--execute',
          NOTEBOOK,
          '--output-dir',
          scratch,
          '--output',
          'run',
        ],
        // No files of the user: the folders of Jupyter, IPython and matplotlib are temporary.
        { env: { PATH: process.env.PATH, HOME: scratch, DATABASE_URL: url.href } },
      );
      const { cells } = notebook.parse(JSON.parse(readFileSync(join(scratch, 'run.ipynb'), 'utf8')));
      const outputsById = new Map(cells.map(({ id, outputs = [] }) => [id, JSON.stringify(outputs)]));
      expect(outputsById.get('datasets')).toContain('metric_points');
      expect(outputsById.get('draw')).toContain('image/png');
      expect(outputsById.get('uptime')).toContain('uptime_lower');
      expect(outputsById.get('stake')).toMatch(/\d+ validators; the first ten have [\d.]+ % of the stake/);
    } finally {
      rmSync(scratch, { recursive: true });
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    }
  },
);
