import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

const here = import.meta.dirname;
/**
 * Names of the islands. Every module in this folder is an island that pages can load by its name. The styles
 * are one file.
 */
const islands = readdirSync(here).filter((name) => name.endsWith('.ts') && name !== 'vite.config.ts');

/** Builds the islands and the styles to dist/web, with hashed names and a manifest that the server reads. */
export default defineConfig({
  root: here,
  base: '/assets/',
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: '../dist/web',
    // A running server still serves the files of the previous build.
    emptyOutDir: false,
    assetsDir: '.',
    // The Content Security Policy of the pages allows data: URLs only for images.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    rollupOptions: { input: ['style.css', ...islands].map((name) => join(here, name)) },
  },
});
