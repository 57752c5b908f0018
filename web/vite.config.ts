// Builds the pages into dist/web: index.html is the chat, console.html the console. Everything else is a hashed file
// under assets/. The pages contain no inline script or style, so the server can forbid both.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  root: here,
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: { input: { chat: `${here}index.html`, console: `${here}console.html` } },
  },
})
