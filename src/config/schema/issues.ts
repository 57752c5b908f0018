// What zod found, said for a person: which key, what was expected, what to write instead. Values are never quoted,
// because any of them could be a secret; names of platforms and connectors are.
import type { z } from 'zod'
import { CHANNEL_PLATFORM, SECRET_HINT } from '../../contract/index.ts'
import type { Path } from '../problem.ts'
import { MASK, shownName } from '../yaml/shown-names.ts'
import { PLATFORM_KEY } from './integrations.ts'
import { nearest, suggestion } from './nearest.ts'
import { allowedKeys, type Json } from './schema-walk.ts'

export interface Finding {
  readonly path: Path
  /** Whether the key or its value is wrong. */
  readonly at: 'key' | 'value'
  readonly message: string
  readonly hint: string | null
  /** The key at the end of the path as it may be shown, where it is not one that is known. */
  readonly name?: string
  /** A required key is absent. */
  readonly missing?: boolean
  /** The path (as JSON) of the key that was probably meant. */
  readonly instead?: string
}

/** Adds a finding to those of the file. */
export type Wrong = (path: Path, message: string, hint?: string | null, at?: 'key' | 'value') => void

type Issue = z.core.$ZodIssue

/** What the file is held against: its JSON Schema, made when a key is unknown, and the names that may be written. */
export interface Expected {
  readonly schema: () => Json
  readonly platformNames: readonly string[]
  readonly connectorNames: readonly string[]
}

/** All findings of one parse, in the order of the file's keys as zod met them. */
export function findingsOf(issues: readonly Issue[], value: unknown, root: Expected): Finding[] {
  const found = issues
    .flatMap((issue) => findingsOfIssue(issue, value, root))
    .map((finding) => withoutLostKey(finding, value, root))
  // "agents is missing" says nothing new where "agent" was written for it.
  const meant = new Set(found.map((finding) => finding.instead).filter((path) => path !== undefined))
  return found.filter((finding) => !(finding.missing && meant.has(JSON.stringify(finding.path))))
}

/** In a map of the user's own keys what stands alone may be a value whose key was lost. */
function withoutLostKey(finding: Finding, value: unknown, root: Expected): Finding {
  const { path, name, message } = finding
  const key = path.at(-1)
  if (name !== undefined || typeof key !== 'string' || at(value, path) !== null) return finding
  if (allowedKeys(root.schema(), path.slice(0, -1), value).includes(key)) return finding
  return { ...finding, name: MASK, message: message.replaceAll(shownName(key), MASK) }
}

function findingsOfIssue(issue: Issue, value: unknown, root: Expected): Finding[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  const found = at(value, path)
  const rps = rateText(path, found, value)
  if (rps !== null) return [{ path, at: 'value', message: rps, hint: null }]
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(issue.keys, path, value, root)
    case 'invalid_type':
      return [wrongType(issue.expected, path, found)]
    case 'invalid_union':
      return [wrongUnion(issue, path, found, value, root)].flat()
    case 'invalid_value': {
      const words = issue.values.map(String)
      return [
        {
          path,
          at: 'value',
          message: `${last(path)} must be one of ${words.join(', ')}`,
          hint: nearWord(found, words),
        },
      ]
    }
    case 'invalid_key':
      return [{ path, at: 'key', message: issue.issues[0]?.message ?? issue.message, hint: null }]
    case 'too_small':
    case 'too_big':
      return [sized(issue, path)]
    default:
      return [plain(issue, path)]
  }
}

// Past a hundred the count says more than the names.
const MAX_NAMED = 100

function unknownKeys(keys: readonly string[], path: Path, value: unknown, root: Expected): Finding[] {
  const written = (at(value, path) as Readonly<Record<string, unknown>> | undefined) ?? {}
  const allowed = allowedKeys(root.schema(), path, value)
  // A key that is already written is a worse guess than one that is missing.
  const free = allowed.filter((name) => !Object.hasOwn(written, name))
  const findings = keys.slice(0, MAX_NAMED).map((key): Finding => {
    const near = nearest(key, free)
    // A colon belongs to the key where no space follows it.
    const shown = shownName(key, allowed)
    const word = shown.endsWith('…') ? shown.slice(0, -1) : null
    // What stands alone may be a value whose key was lost.
    const isAlone = !Object.hasOwn(written, key) || written[key] === null
    const name = isAlone && near === null && word === null ? MASK : shown
    return {
      path: [...path, key],
      at: 'key',
      name,
      message: `unknown key "${name}"`,
      hint:
        word !== null
          ? `write "${word}", a colon and a space`
          : near !== null
            ? `did you mean "${near}"?`
            : suggestion(key, allowed) || null,
      ...(near === null ? {} : { instead: JSON.stringify([...path, near]) }),
    }
  })
  const more = keys.length - findings.length
  const rest: Finding = { path, at: 'key', message: `${more} more unknown keys`, hint: null }
  return more > 0 ? [...findings, rest] : findings
}

function wrongType(expected: string, path: Path, found: unknown): Finding {
  if (found === undefined) {
    const missing = last(path)
    return { path, at: 'key', message: `"${missing}" is missing`, hint: null, missing: true }
  }
  const numeric = expected === 'string' && typeof found === 'number'
  return {
    path,
    at: 'value',
    message: `${last(path)} must be ${nameOfType(expected)}, but is ${typeName(found)}`,
    hint: numeric ? 'write it in quotes' : null,
  }
}

function wrongUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  path: Path,
  found: unknown,
  value: unknown,
  root: Expected,
): Finding | Finding[] {
  const discriminator = (issue as { discriminator?: string }).discriminator
  if (discriminator !== undefined || issue.errors.length === 0)
    return wrongName({ path, found, discriminator, value }, root)
  // The member that got furthest is the one that was meant.
  const meant = issue.errors.find((errors) =>
    errors.every((error) => error.path.length > 0 || error.code === 'unrecognized_keys'),
  )
  if (meant !== undefined && meant.length > 0) {
    return findingsOf(
      meant.map((error) => ({ ...error, path: [...issue.path, ...error.path] }) as Issue),
      value,
      root,
    )
  }
  return { path, at: 'value', message: `${last(path)}: ${issue.message}`, hint: null }
}

interface WrittenName {
  readonly path: Path
  readonly found: unknown
  readonly discriminator: string | undefined
  readonly value: unknown
}

function wrongName({ path, found, discriminator, value }: WrittenName, root: Expected): Finding {
  const key = discriminator ?? String(last(path))
  const inside = last(path) === key ? path : [...path, key]
  const written = last(path) === key ? found : (found as Record<string, unknown> | undefined)?.[key]
  const isPlatform = key === PLATFORM_KEY
  const names = isPlatform ? root.platformNames : root.connectorNames
  const what = isPlatform ? 'platform' : 'connector'
  if (written === undefined) {
    const siblings = Object.keys((at(value, inside.slice(0, -1)) as object | null) ?? {})
    const slip = siblings.find((sibling) => nearest(sibling, [key]) !== null)
    if (slip !== undefined)
      return {
        path: [...inside.slice(0, -1), slip],
        at: 'key',
        message: `unknown key "${shownName(slip)}"`,
        hint: `did you mean "${key}"?`,
      }
    return { path: inside, at: 'key', message: `"${key}" is missing`, hint: `known: ${names.join(', ')}` }
  }
  if (typeof written !== 'string') return wrongType('string', inside, written)
  if (isPlatform && written === CHANNEL_PLATFORM)
    return {
      path: inside,
      at: 'value',
      message: 'an MCP channel server is no integration of its own',
      hint: 'name it under mcp_servers, channels.approved and allowed_channel_servers',
    }
  return {
    path: inside,
    at: 'value',
    message: `unknown ${what} "${shownName(written, names)}"`,
    hint: suggestion(written, names),
  }
}

function sized(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, path: Path): Finding {
  const custom = !/^Too (small|big)/.test(issue.message)
  if (custom) return plain(issue, path)
  const bound = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`
  const what =
    issue.origin === 'string'
      ? `${bound} characters long`
      : issue.origin === 'array'
        ? `a list of ${bound}`
        : bound
  return { path, at: 'value', message: `${last(path)} must be ${what}`, hint: null }
}

function plain(issue: Issue, path: Path): Finding {
  const [message = '', hint] = issue.message.split('; write ')
  const own = message.includes('"') || /^(channels|access|messaging|an )/.test(message)
  return {
    path,
    at: path.length > 0 && typeof last(path) === 'number' ? 'value' : own ? 'key' : 'value',
    message: own ? message : `${last(path)}: ${message}`,
    hint: hint === undefined ? null : message.startsWith('a secret') ? SECRET_HINT : `write ${hint}`,
  }
}

// The texts of the channels seed, to the letter, with the label of the place.
function rateText(path: Path, found: unknown, value: unknown): string | null {
  if (last(path) !== 'rps' || found === undefined) return null
  const parent = path.slice(0, -1)
  const label = rateLabel(parent, value)
  if (typeof found === 'number' && found > 1000 && Number.isFinite(found))
    return `${label}.rps ${found} exceeds soft cap of 1000`
  const shown = typeof found === 'number' ? String(found) : typeName(found)
  return `${label}.rps must be a non-negative finite float, got ${shown}`
}

function rateLabel(path: Path, value: unknown): string {
  const channels = path.indexOf('channels')
  if (channels < 0) return path.filter((part) => typeof part === 'string').join('.')
  if (path[channels + 1] !== 'approved') return `channels.${path.slice(channels + 1).join('.')}`
  const server = at(value, [...path.slice(0, -1), 'server'])
  return `channels.approved[server=${typeof server === 'string' ? server : '?'}].rate_limit`
}

function nearWord(found: unknown, words: readonly string[]): string | null {
  if (typeof found !== 'string') return null
  const near = nearest(found, words)
  return near === null ? null : `did you mean "${near}"?`
}

function at(value: unknown, path: Path): unknown {
  let here = value
  for (const part of path) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, part)) return undefined
    here = (here as Record<string | number, unknown>)[part]
  }
  return here
}

function last(path: Path): string | number {
  const part = path[path.length - 1]
  if (part === undefined) return 'the file'
  if (typeof part === 'string') return shownName(part)
  return `${path[path.length - 2] ?? 'item'}[${part}]`
}

function typeName(found: unknown): string {
  if (found === null) return 'empty'
  if (Array.isArray(found)) return 'a list'
  if (typeof found === 'object') return 'a map of keys'
  if (typeof found === 'string') return 'text'
  if (typeof found === 'number') return Number.isFinite(found) ? 'a number' : `the number ${found}`
  return typeof found === 'boolean' ? 'true or false' : typeof found
}

function nameOfType(expected: string): string {
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map of keys',
    record: 'a map of keys',
  }
  return names[expected] ?? expected
}
