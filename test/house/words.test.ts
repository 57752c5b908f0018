// Names that tell a stranger nothing do not come back: as a function, an export, a member of what is made or declared, or a file.
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { ourModules } from './exports.ts'
import { read } from './source.ts'
import { FUNCTIONS, isNode, type Node, walk } from './syntax.ts'

/** What they were called for is said by what they hold or do. Locals that the next line explains are free. */
const WORDS = ['told', 'joined', 'apart', 'lookout', 'patience', 'goOn', 'fly', 'wary', 'forsake', 'saidIn']
const ONE_OF_THEM = new RegExp(WORDS.join('|'), 'i')

const files = ourModules()
const found = files.flatMap((file) => [...wordsIn(file, read(file)), ...wordsOfFile(file)])

describe('[I13.words] words that do not tell what they are', () => {
  it('name no function, no export, no member and no file', () => {
    expect(files.length).toBeGreaterThan(1_800)
    expect(found).toEqual([])
  })

  it.each([
    ['export const told = 1', ['an export']],
    ['const one = 1\nexport { one as told }', ['an export']],
    ["export { told } from './x.ts'", ['an export']],
    ['export type Told = 1', ['an export']],
    ['export function Told() {}', ['an export', 'a function']],
    ['function told() {}', ['a function']],
    ['const told = () => 1', ['a function']],
    ['const { told = () => 1 } = one', []],
    ['class One { told() {} }', ['a function']],
    ['export const make = () => ({ told: () => 1 })', ['a member', 'a function']],
    ['export const make = (told: string) => ({ told })', ['a member']],
    ['export interface One { readonly told?: string }', ['a member']],
    ['interface One { told(): void }', ['a member']],
    ['const one = new Map<string, { told: boolean }>()', ['a member']],
    ['const told = [1]\nfor (const fly of told) look(fly.told)', []],
  ])('%s names %j', (text, as) => {
    expect(wordsIn('x.ts', text)).toEqual(as.map((each) => `x.ts: told, ${each}`))
  })

  it.each([
    ['src/said-in.ts', ['src/said-in.ts: saidIn, a file']],
    ['web/told.test.tsx', ['web/told.test.tsx: told, a file']],
    ['src/joined-lines.ts', []],
  ])('%s is looked at by its name', (file, named) => {
    expect(wordsOfFile(file)).toEqual(named)
  })
})

function wordsOfFile(file: string): readonly string[] {
  const [base = ''] = (file.split('/').at(-1) ?? '').split('.')
  const word = base.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return WORDS.includes(word) ? [`${file}: ${word}, a file`] : []
}

function wordsIn(file: string, text: string): readonly string[] {
  if (!ONE_OF_THEM.test(text)) return []
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const named = new Set<string>()
  const look = (name: unknown, as: string) => {
    const word = isNode(name) ? String(name.name ?? name.value) : ''
    const small = word.charAt(0).toLowerCase() + word.slice(1)
    if (WORDS.includes(small)) named.add(`${file}: ${small}, ${as}`)
  }
  walk(program as unknown as Node, (node) => {
    const { type, key, id } = node
    const isFunction = [node.value, node.init].some((made) => isNode(made) && FUNCTIONS.has(made.type))
    if (type === 'FunctionDeclaration' || isFunction) look(key ?? id, 'a function')
    if (type === 'TSPropertySignature' || type === 'TSMethodSignature') look(key, 'a member')
    // What a test gathers for itself has no type that others read.
    if (type === 'ObjectExpression' && !file.includes('.test.'))
      for (const member of node.properties as Node[]) look(member.key, 'a member')
    if (type === 'ExportSpecifier') look(node.exported, 'an export')
    if (type === 'ExportNamedDeclaration' && isNode(node.declaration)) {
      look(node.declaration.id, 'an export')
      for (const one of (node.declaration.declarations ?? []) as Node[]) look(one.id, 'an export')
    }
  })
  return [...named]
}
