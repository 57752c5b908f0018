// A configuration file is checked, what it refers to is kept, and then it is written whole.
import { lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dataFolderAt } from '../config/instance/data-folder.ts'
import { scratchFolder } from '../testing/scratch.ts'
import { writeConfigFile, writeWhole } from './write-file.ts'

const VALID = 'agents:\n  - { id: demo, connector: { type: demo } }\n'

let folder = ''
let path = ''
afterEach(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  folder = scratchFolder('swb-write-')
  path = join(folder, 'switchboard.yaml')
})

/** Writes it, and returns what happened in which order. */
async function write(text: string, more: { readonly before?: string | null; readonly force?: boolean } = {}) {
  const kept: string[] = []
  const keep = async () => void kept.push(readdirSync(folder).join())
  const data = dataFolderAt({ data: join(folder, 'data'), config: null, env: {} })
  const thrown = await writeConfigFile(data, { path, text, before: null, keep, ...more }).then(
    () => null,
    (problem: Error & { readonly code?: string }) => problem,
  )
  return { kept, thrown }
}

describe('writeConfigFile', () => {
  it('keeps secrets before the file is there', async () => {
    expect(await write(VALID)).toEqual({ kept: [''], thrown: null })
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual([VALID, ['switchboard.yaml']])
  })

  it('keeps and writes nothing of a text that is not valid', async () => {
    const { kept, thrown } = await write('agents: 7\n')
    expect(thrown?.message).toMatch(/would not be valid, nothing was written:[\s\S]*:1:9/)
    expect([kept, readdirSync(folder)]).toEqual([[], []])
  })

  it('keeps and writes nothing when the file changed after it was read', async () => {
    writeFileSync(path, `# somebody else\n${VALID}`)
    const { kept, thrown } = await write(VALID, { before: VALID })
    expect([kept, thrown?.code]).toEqual([[], 'conflict'])
    expect(readFileSync(path, 'utf8')).toContain('# somebody else')
  })

  it('replaces a file that is new to it only by force', async () => {
    writeFileSync(path, '# mine\n')
    const { kept, thrown } = await write(VALID)
    expect([kept, thrown?.message]).toEqual([[], `${path} is there already`])
    expect((await write(VALID, { force: true })).thrown).toBe(null)
    expect(readFileSync(path, 'utf8')).toBe(VALID)
  })
})

describe('writeWhole', () => {
  it('writes through a link, keeps the mode, and leaves nothing beside it', () => {
    const target = join(folder, 'real.yaml')
    writeFileSync(target, 'a', { mode: 0o640 })
    symlinkSync(target, path)
    expect(writeWhole(path, 'b', { replace: true })).toBe(true)
    expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['b', 0o640])
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readdirSync(folder).toSorted()).toEqual(['real.yaml', 'switchboard.yaml'])
  })

  it('says false instead of replacing, and throws what stands in the way', () => {
    writeFileSync(path, 'mine')
    expect(writeWhole(path, 'b', { replace: false })).toBe(false)
    expect(readFileSync(path, 'utf8')).toBe('mine')
    expect(() => writeWhole(join(path, 'x.yaml'), 'b', { replace: false })).toThrow(/^cannot write /)
  })
})
