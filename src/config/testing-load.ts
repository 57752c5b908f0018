// For this room's tests: loads a text as if it stood in /etc/sb/switchboard.yaml, with other files given as a map.
import { type LoadResult, loadSettings } from './load.ts'
import { renderProblems } from './problem.ts'

export const BUILT = {
  platforms: [
    'web',
    'webhook',
    'telegram',
    'slack',
    'discord',
    'email',
    'mcp',
    'chorus',
    'imessage',
    'whatsapp',
  ],
  connectors: ['channel', 'chorus', 'claude-code', 'acp', 'llm', 'demo'],
}

export const FILE = '/etc/sb/switchboard.yaml'

export function loadText(
  text: string | Uint8Array,
  files: Readonly<Record<string, string>> = {},
  built = BUILT,
): LoadResult {
  return loadSettings(FILE, {
    built,
    defaultStore: 'sqlite:/data/switchboard.db',
    readFile: (path) => {
      if (path === FILE) return typeof text === 'string' ? Buffer.from(text) : text
      const found = files[path]
      if (found === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' })
      return Buffer.from(found)
    },
  })
}

export function settingsFrom(text: string, files: Readonly<Record<string, string>> = {}, built = BUILT) {
  const result = loadText(text, files, built)
  if (!result.ok) throw new Error(renderProblems('switchboard.yaml', result.problems))
  return result.settings
}

/** The rendered problems; '' when it loads. */
export function problemsFrom(text: string | Uint8Array): string {
  const result = loadText(text)
  return result.ok ? '' : renderProblems('switchboard.yaml', result.problems)
}
