// docs/README.md leads to every page, by wish first, and says what was never run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { wordsIn } from '../src/words/index.ts'

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
    ...index.matchAll(
      /^- \[(.+)\]\(((?:guide|platforms|agents|reference|decisions)\/[^)#]+)(?:#[^)]*)?\)$/gm,
    ),
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

it('[I35.readme-names] the first sentence of the README names every platform and agent', () => {
  const readme = readFileSync(join(DOCS, '../README.md'), 'utf8')
  const first = readme.slice(readme.indexOf('Switchboard connects'), readme.indexOf('One daemon owns'))
  const names =
    'Slack, Telegram, Discord, WhatsApp, iMessage, email, webhooks, web chat, MCP channel, Chorus, Claude Code, MCP host, ACP, Gemini, Codex, OpenCode, Qwen, HTTP, API key'
  expect(names.split(', ').filter((name) => !first.replace(/\s+/g, ' ').includes(name))).toEqual([])
  expect(first.split('. ')).toHaveLength(1)
})

it('[I35.a4-reference] the reference lists every row of the health table', () => {
  const page = readFileSync(join(DOCS, 'reference/health.md'), 'utf8')
  const { checks } = wordsIn().health
  expect(Object.keys(checks).length).toBeGreaterThan(15)
  for (const [code, { word, when }] of Object.entries(checks)) {
    expect(page.split('\n').filter((line) => line.startsWith(`| \`${code}\` |`))).toEqual([
      expect.stringContaining(`| ${word} | ${when} |`),
    ])
  }
})
