// The fenced snippets of the documentation pages, each with its place, for tests that check the pages.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The pages that guide a reader step by step. */
export const PAGES = [
  'README.md',
  ...['wishes', 'guide', 'platforms', 'agents'].flatMap((folder) =>
    readdirSync(join(ROOT, 'docs', folder)).map((name) => `docs/${folder}/${name}`),
  ),
]

export interface Snippet {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
}

export function snippetsOf(page: string): readonly Snippet[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split('\n').length + 1,
    language: found[1] ?? '',
    text: found[2] ?? '',
  }))
}
