// docs/README.md leads to every page, by wish first, and says what was never run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PLATFORMS } from '../src/app/registry.ts'

const DOCS = join(import.meta.dirname, '../docs')
const index = readFileSync(join(DOCS, 'README.md'), 'utf8')
const links = [...index.matchAll(/\]\(([^)#]+)\)/g)].map((found) => found[1] ?? '')

it('[I18.docs-index] leads to every page, and to none that is not there; wishes come first', () => {
  const pages = ['wishes', 'guide', 'platforms', 'agents', 'reference', 'decisions'].flatMap((folder) =>
    readdirSync(join(DOCS, folder)).map((name) => `${folder}/${name}`),
  )
  expect(pages.length).toBeGreaterThan(40)
  expect(pages.filter((page) => !links.includes(page))).toEqual([])
  expect(links.filter((link) => !existsSync(join(DOCS, link)))).toEqual([])
  expect(links.slice(0, 4).every((link) => link.startsWith('wishes/'))).toBe(true)
})

it('[I18.docs-index] calls each page what it calls itself', () => {
  const called = [
    ...index.matchAll(/^- \[(.+)\]\(((?:guide|platforms|agents|reference|decisions)\/[^)]+)\)$/gm),
  ]
  expect(called.length).toBeGreaterThan(40)
  const wrong = called.filter(([, name = '', page = '']) => {
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(DOCS, page), 'utf8')) ?? []
    return name !== title && index.indexOf(page) > index.indexOf('## Guides')
  })
  expect(wrong.map(([line]) => line)).toEqual([])
})

it('[I18.never-run] says what was never run', () => {
  const told = index.slice(index.indexOf('## What was never run here'))
  for (const word of ['systemd', 'launchd', 'container engine', 'Tailscale']) expect(told).toContain(word)
})

/** Three are an example; more are a list that the next platform would be missing from. */
const MOST_NAMED = 3

function listsIn(page: string): readonly string[] {
  const asWord = new RegExp(`(?<![a-z])(${Object.keys(PLATFORMS).join('|')})(?![a-z])`, 'gi')
  return page.split('\n').filter((line) => {
    const named = new Set([...line.matchAll(asWord)].map(([name]) => name.toLowerCase()))
    return named.size > MOST_NAMED
  })
}

it('[I13.docs-list] no guide and no page of the root lists the platforms: docs/README.md does', () => {
  const guides = ['guide', 'wishes'].flatMap((folder) =>
    readdirSync(join(DOCS, folder)).map((name) => `${folder}/${name}`),
  )
  const root = ['README', 'ARCHITECTURE', 'CONTRIBUTING', 'SECURITY'].map((name) => `../${name}.md`)
  expect(guides.length).toBeGreaterThan(20)
  const lists = [...guides, ...root].flatMap((page) =>
    listsIn(readFileSync(join(DOCS, page), 'utf8')).map((line) => `${page}: ${line.slice(0, 80)}`),
  )
  expect(lists).toEqual([])
  expect(listsIn('such as Telegram, WhatsApp, webhook and [Slack](x)')).toHaveLength(1)
  expect(listsIn('such as slack, telegram or email')).toEqual([])
})
