// One bundle of the built command line, for tests that start it hundreds of times: it loads in half the processor time of
// the many files of dist/. `npm run test:all` runs what is shipped instead, and so do the tests of the package.
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const entry = join(root, 'dist/cli/main.js')
// As deep as dist/cli/: the code finds the package and the built pages from where it lies.
const folder = join(root, 'test-results/packed')
/** Native, or looking for files of their own beside them. */
const LEFT_OUT = ['@photostructure/sqlite', 'pg', 'pino', 'ws']

/** The path of the bundle, made anew when the build is newer. */
export async function packForTests() {
  const packed = join(folder, 'main.js')
  if (existsSync(packed) && statSync(packed).mtimeMs >= statSync(entry).mtimeMs) return packed
  rmSync(folder, { recursive: true, force: true })
  const { build } = await import('vite')
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    ssr: { noExternal: true, external: LEFT_OUT, target: 'node' },
    build: {
      ssr: entry,
      outDir: folder,
      target: 'node20',
      minify: false,
      copyPublicDir: false,
      rolldownOptions: { output: { entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js' } },
    },
  })
  return packed
}
