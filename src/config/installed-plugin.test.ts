// Installed plugins as the file system has them: found in their marketplace's folder, refused anywhere else.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readInstalledPlugin } from './installed-plugin.ts'
import { childEnvironment } from './instance/child-environment.ts'

const variable = (name: string) => `$\{${name}}`
const SLACK = {
  command: 'bun',
  args: ['run', '--cwd', variable('CLAUDE_PLUGIN_ROOT'), 'start'],
  env: { MODE: 'plugin' },
}

interface Installed {
  readonly plugin?: string
  readonly at?: string
  readonly entry?: unknown
  readonly manifest?: object
  readonly mcp?: object | string | null
  readonly more?: Readonly<Record<string, unknown>>
}

/** A home in which one plugin is installed as Claude Code does it. */
function home(options: Installed = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'swb-plugins-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const plugins = join(folder, '.claude', 'plugins')
  const root = join(plugins, options.at ?? 'cache/anthropic/slack/1.0.0')
  const write = (path: string, value: unknown) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  }
  mkdirSync(root, { recursive: true })
  if (options.manifest) write(join(root, '.claude-plugin/plugin.json'), options.manifest)
  if (options.mcp !== null) write(join(root, '.mcp.json'), options.mcp ?? { mcpServers: { slack: SLACK } })
  const entry = options.entry ?? [{ scope: 'user', installPath: root, version: '1.0.0' }]
  write(join(plugins, 'installed_plugins.json'), {
    version: 2,
    plugins: { [options.plugin ?? 'slack@anthropic']: entry },
  })
  for (const [path, value] of Object.entries(options.more ?? {})) write(join(plugins, path), value)
  const read = (plugin = 'slack@anthropic', name = 'slack', listed: Record<string, string> = {}) =>
    readInstalledPlugin(plugin, { name, listed }, { variables: { HOME: folder, SECRET: 'of ours' } })
  return { folder, plugins, root, read, write }
}

describe('[S9.plugin-resolves] an installed plugin', () => {
  it('gives command, arguments, environment and folder from where it was installed', () => {
    const { root, read } = home()
    expect(read()).toEqual({
      command: 'bun',
      args: ['run', '--cwd', root, 'start'],
      env: { MODE: 'plugin', CLAUDE_PLUGIN_ROOT: root },
      cwd: root,
      headers: {},
    })
  })

  it('is found in the older list, by CLAUDE_CONFIG_DIR, in a clone of its marketplace and in a local one', () => {
    const older = home({ entry: undefined })
    older.write(join(older.plugins, 'installed_plugins.json'), {
      plugins: { 'slack@anthropic': { installPath: older.root } },
    })
    expect(older.read().cwd).toBe(older.root)
    const variables = { HOME: '/nowhere', CLAUDE_CONFIG_DIR: join(older.folder, '.claude') }
    expect(readInstalledPlugin('slack@anthropic', { name: 'slack', listed: {} }, { variables }).cwd).toBe(
      older.root,
    )
    const clone = home({ at: 'marketplaces/anthropic/external/slack' })
    expect(clone.read().cwd).toBe(clone.root)
    const local = home({ at: '../../work/my-plugins/slack' })
    expect(() => local.read()).toThrow('does not lie in the folder of the marketplace')
    local.write(join(local.plugins, 'known_marketplaces.json'), {
      anthropic: { source: { source: 'directory' }, installLocation: join(local.folder, 'work/my-plugins') },
    })
    expect(local.read().command).toBe('bun')
  })

  it('takes the server in any of the ways a plugin can name it', () => {
    const inline = {
      mcpServers: { one: { command: 'a' }, two: { command: 'b' } },
      channels: [{ server: 'two' }],
    }
    const named = home({ manifest: inline, mcp: null })
    expect(named.read('slack@anthropic', 'one').command).toBe('a')
    expect(named.read('slack@anthropic', 'plugin:slack:one').command).toBe('a')
    expect(named.read('slack@anthropic', 'other').command).toBe('b')
    const file = home({ manifest: { mcpServers: './servers.json' }, more: {} })
    file.write(join(file.root, 'servers.json'), {
      slack: { url: 'https://x.example/mcp', headers: { A: 'b' } },
    })
    expect(file.read()).toMatchObject({ url: 'https://x.example/mcp', headers: { A: 'b' } })
    const two = home({ mcp: { mcpServers: { a: { command: 'a' }, b: { command: 'b' } } } })
    expect(() => two.read()).toThrow('has no MCP server to take for "slack" (it has: a, b)')
  })

  it('gets only the variables that are listed for it', () => {
    const asking = (text: string) => home({ mcp: { slack: { command: 'x', env: { T: text } } } })
    expect(() => asking(variable('SECRET')).read()).toThrow('asks for the variable SECRET')
    expect(asking(variable('SECRET')).read('slack@anthropic', 'slack', { SECRET: 'given' }).env.T).toBe(
      'given',
    )
    expect(asking(variable('SECRET:-none')).read().env.T).toBe('none')
  })

  it.each([
    ['slack', 'no plugin'],
    ['slack@', 'no plugin'],
    ['@anthropic', 'no plugin'],
    ['../slack@anthropic', 'no plugin'],
    ['slack@../../etc', 'no plugin'],
    ['slack@anthropic@x', 'no plugin'],
    ['slack@other', 'not installed'],
    ['constructor@anthropic', 'not installed'],
  ])('%s is refused: %s', (plugin, problem) => {
    expect(() => home().read(plugin)).toThrow(problem)
  })
})

describe('[S9.stamp-from-install] what is not of the marketplace is not taken for it', () => {
  it('a folder elsewhere, of another marketplace, or reached through a link', () => {
    const elsewhere = 'does not lie in the folder of the marketplace "anthropic"'
    expect(() => home({ at: 'cache/evil/slack/1.0.0' }).read()).toThrow(elsewhere)
    expect(() => home({ at: '../../downloads/slack' }).read()).toThrow(elsewhere)
    const linked = home({ at: '../../downloads/slack' })
    const inside = join(linked.plugins, 'cache/anthropic/slack')
    mkdirSync(inside, { recursive: true })
    symlinkSync(linked.root, join(inside, '1.0.0'))
    linked.write(join(linked.plugins, 'installed_plugins.json'), {
      plugins: { 'slack@anthropic': [{ installPath: join(inside, '1.0.0') }] },
    })
    expect(() => linked.read()).toThrow(elsewhere)
  })

  it('a list that lies: the folder is gone, the file is none, the server of another file outside', () => {
    expect(() => home({ entry: [{ installPath: '/no/such/folder' }] }).read()).toThrow('is gone')
    expect(() => home({ entry: 'x' }).read()).toThrow('is not installed')
    const broken = home()
    broken.write(join(broken.plugins, 'installed_plugins.json'), '{ not json')
    expect(() => broken.read()).toThrow('is not installed')
    const outside = home({ manifest: { mcpServers: '../../../../../x.json' }, mcp: null })
    outside.write(join(outside.plugins, '../../x.json'), { slack: { command: 'x' } })
    expect(() => outside.read()).toThrow('has no MCP server')
    expect(() => home({ mcp: { slack: { args: [] } } }).read()).toThrow('has no command')
  })
})

describe('the environment of a child', () => {
  it('is where programs and homes are, language and time, and nothing else', () => {
    const ours = { PATH: '/bin', HOME: '/root', LANG: 'C', LC_ALL: 'C', TZ: 'UTC', TERM: 'x', TMPDIR: '/tmp' }
    const never = {
      AWS_SECRET_ACCESS_KEY: 'x',
      SWITCHBOARD_KEY: 'x',
      NODE_OPTIONS: '--inspect',
      HTTPS_PROXY: 'u:p@h',
    }
    expect(childEnvironment({ ...ours, ...never, SHELL: '() { :; }', USER: undefined })).toEqual(ours)
  })
})
