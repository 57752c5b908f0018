// Code of src/ for a process of the test's own, where what is shipped has no door that leads to it.
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the files, named from the repository's root, and resolves to the folder of the built ones: `<name>.js` each. */
export async function buildForTest(...files: readonly string[]): Promise<string> {
  // In the repository, where the packages are found.
  const folder = join(ROOT, 'test-results/built', basename(files[0] ?? '').replace(/\.\w+$/, ''))
  await build({
    ...{ configFile: false, root: ROOT, logLevel: 'error' },
    build: {
      ...{ ssr: true, outDir: folder, copyPublicDir: false, target: 'node20', minify: false },
      rolldownOptions: {
        input: files.map((file) => join(ROOT, file)),
        output: { entryFileNames: '[name].js' },
      },
    },
  })
  return folder
}
