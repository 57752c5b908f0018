// Finds which requirement ids the tests cite: `[ID]` in a test's name. It reads the text, so it needs no test run.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

export interface Citation {
  readonly id: string
  readonly file: string
  readonly line: number
}

const ID = /\[([A-Z]\d+\.[A-Za-z0-9-]+)\]/g
const COMMENT = /^\s*(\/\/|\*|\/\*)/
// A test that is switched off proves nothing. A test that is skipped for a reason on one machine runs on another.
const SWITCHED_OFF = /\b(it|test|describe)\.(skip|todo|fails)\s*\(/

/** The ids that one file cites. Comments and tests that are switched off do not count. */
export function citationsIn(file: string, text: string): readonly Citation[] {
  return text.split('\n').flatMap((line, at) => {
    if (COMMENT.test(line) || SWITCHED_OFF.test(line)) return []
    return [...line.matchAll(ID)].map(([, id = '']) => ({ id, file, line: at + 1 }))
  })
}

/** All citations of the repository: `*.test.ts` of src, test, bench and examples, and the suites in src/testing. */
export function citations(root: string): readonly Citation[] {
  return ['src', 'test', 'bench', 'examples'].flatMap((folder) =>
    filesUnder(join(root, folder))
      .map((path) => relative(root, path).split(sep).join('/'))
      .filter((file) => file.endsWith('.test.ts') || /^src\/testing\/.*\.ts$/.test(file))
      .flatMap((file) => citationsIn(file, readFileSync(join(root, file), 'utf8'))),
  )
}

function filesUnder(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return [] // a folder that is not there cites nothing
  }
}
