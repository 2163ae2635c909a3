import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { cloneTemplate, recordedTemplate } from '../../support/template.ts';

/** Makes a database that was recorded from the sandbox, for the calling test file. */
export const recordedDatabase = (): Promise<TestDatabase> =>
  createTestDatabase(async (admin, name) => cloneTemplate(admin, name, await recordedTemplate(admin)));
