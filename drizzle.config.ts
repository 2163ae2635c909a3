import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['src/db/schema/*.ts', 'src/datasets/{chain-data,metrics,node}/*.ts'],
  out: 'drizzle',
  schemaFilter: ['recorder'],
});
