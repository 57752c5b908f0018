// Builds code of src/ for a process of the test's own, if the shipped package does not export it.
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the files, named from the repository's root. Returns the folder of the results, `<name>.js` for each. */
export async function buildForTest(...files: readonly string[]): Promise<string> {
  // The folder is in the repository, where Node finds the packages.
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
