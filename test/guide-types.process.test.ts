// The TypeScript of the adapter guide compiles under `strict`, as a reader would compile it.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../src/testing/scratch.ts'
import { snippetsOf } from './page-snippets.ts'

const ROOT = join(import.meta.dirname, '..')

it('[I18.guide-snippets] the TypeScript of the kit compiles', () => {
  const examples = snippetsOf('docs/guide/testing-adapters.md').filter(
    ({ language, text }) => language === 'ts' && text.includes("'switchboard/adapter'"),
  )
  expect(examples).toHaveLength(2)
  const folder = scratchFolder('swb-guide-types-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [at, { text }] of examples.entries()) writeFileSync(join(folder, `example-${at}.mts`), text)
  const compilerOptions = {
    noEmit: true,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: { 'switchboard/adapter': [join(ROOT, 'src/adapter.ts')] },
  }
  const config = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.mts'], exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, ''])
})
