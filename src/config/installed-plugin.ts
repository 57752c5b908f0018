// `plugin: slack@anthropic`: the program of an installed Claude Code plugin, found where its marketplace keeps it. What
// is found there is stamped as coming from there; a plugin that lies elsewhere is not taken for one of that marketplace.
import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { SwitchboardError } from '../contract/index.ts'
import { decodeText, type ReadFile, readFileBounded } from './yaml/text-file.ts'

export interface PluginProgram {
  readonly command?: string
  readonly args: readonly string[]
  /** What the plugin itself sets; values of ours come on top. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly url?: string
  readonly headers: Readonly<Record<string, string>>
}

export interface PluginSources {
  /** PATH, HOME and the like, and CLAUDE_CONFIG_DIR where it is set. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly readFile?: ReadFile
}

/** Throws `config_invalid`, with what to do about it. `listed` are the variables that the operator gave the server. */
export function readInstalledPlugin(
  plugin: string,
  server: { readonly name: string; readonly listed: Readonly<Record<string, string>> },
  sources: PluginSources,
): PluginProgram {
  const [name = '', marketplace = '', ...more] = plugin.split('@')
  if (!isFolderName(name) || !isFolderName(marketplace) || more.length > 0)
    throw invalid(`"${plugin}" is no plugin`, 'write <plugin>@<marketplace>, e.g. slack@anthropic')
  const root = rootOf(plugin, name, marketplace, sources)
  const manifest = objectIn(join(root, '.claude-plugin', 'plugin.json'), sources) ?? {}
  const servers = serversOf(root, manifest, sources)
  const chosen = choose(name, server.name, servers, manifest)
  if (chosen === null) {
    const found = Object.keys(servers).join(', ') || 'none'
    throw invalid(
      `plugin ${plugin} has no MCP server to take for "${server.name}" (it has: ${found})`,
      'name the entry under mcp_servers after the server of the plugin',
    )
  }
  return programOf(chosen, root, { plugin, ...server }, sources)
}

/** Of a plugin of this name those that are installed, as `name@marketplace`: for the user, or for the project `folder`. */
export function installedUnder(name: string, sources: PluginSources, folder: string): readonly string[] {
  const list = objectIn(join(pluginsFolder(sources), 'installed_plugins.json'), sources)
  const plugins = isObject(list?.plugins) ? list.plugins : {}
  return Object.entries(plugins).flatMap(([plugin, written]) => {
    const installs = (Array.isArray(written) ? written : [written]).filter(isObject)
    const here = installs.some(
      ({ scope, projectPath }) => scope === undefined || scope === 'user' || projectPath === folder,
    )
    return plugin.startsWith(`${name}@`) && here ? [plugin] : []
  })
}

// ---- where it lies ----------------------------------------------------------------------------------------

function pluginsFolder({ variables: { CLAUDE_CONFIG_DIR, HOME, USERPROFILE } }: PluginSources): string {
  return join(CLAUDE_CONFIG_DIR || join(HOME || USERPROFILE || '', '.claude'), 'plugins')
}

function rootOf(plugin: string, name: string, marketplace: string, sources: PluginSources): string {
  const folder = pluginsFolder(sources)
  const list = objectIn(join(folder, 'installed_plugins.json'), sources)
  const plugins = isObject(list?.plugins) ? list.plugins : {}
  const written = Object.hasOwn(plugins, plugin) ? plugins[plugin] : undefined
  const installs = (Array.isArray(written) ? written : [written]).filter(isObject)
  if (installs.length === 0)
    throw invalid(`plugin ${plugin} is not installed`, `run: claude plugin install ${plugin}`)
  const known = objectIn(join(folder, 'known_marketplaces.json'), sources) ?? {}
  const own = Object.hasOwn(known, marketplace) ? known[marketplace] : undefined
  const homes = [
    join(folder, 'cache', marketplace, name),
    join(folder, 'marketplaces', marketplace),
    ...(isObject(own) && typeof own.installLocation === 'string' ? [own.installLocation] : []),
  ].flatMap(realFolder)
  const paths = installs
    .toSorted(bySuitability)
    .flatMap(({ installPath }) =>
      typeof installPath === 'string' ? realFolder(resolve(folder, installPath)) : [],
    )
  if (paths.length === 0)
    throw invalid(`the folder of plugin ${plugin} is gone`, `run: claude plugin install ${plugin}`)
  const inside = paths.find((path) => homes.some((one) => isInside(one, path)))
  if (inside === undefined)
    throw invalid(
      `plugin ${plugin} does not lie in the folder of the marketplace "${marketplace}"`,
      'install it again from that marketplace',
    )
  return inside
}

/** The user's own before a project's; then the one that changed last. */
function bySuitability(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const own = (one: Record<string, unknown>) => (one.scope === undefined || one.scope === 'user' ? 0 : 1)
  return own(a) - own(b) || String(b.lastUpdated ?? '').localeCompare(String(a.lastUpdated ?? ''))
}

function realFolder(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

// ---- what it starts ---------------------------------------------------------------------------------------

function serversOf(
  root: string,
  manifest: Record<string, unknown>,
  sources: PluginSources,
): Record<string, Record<string, unknown>> {
  const written = manifest.mcpServers ?? '.mcp.json'
  const found: Record<string, Record<string, unknown>> = {}
  for (const one of Array.isArray(written) ? written : [written]) {
    let servers: unknown = one
    if (typeof one === 'string') {
      const file = resolve(root, one)
      const read = isInside(root, file) ? objectIn(file, sources) : null
      servers = isObject(read?.mcpServers) ? read.mcpServers : read
    }
    if (!isObject(servers)) continue
    for (const [name, server] of Object.entries(servers)) if (isObject(server)) found[name] = server
  }
  return found
}

/** By our name for it, by the channel that the plugin declares, or the only one there is. */
function choose(
  plugin: string,
  wanted: string,
  servers: Record<string, Record<string, unknown>>,
  manifest: Record<string, unknown>,
): Record<string, unknown> | null {
  const scoped = `plugin:${plugin}:`
  const bare = wanted.startsWith(scoped) ? wanted.slice(scoped.length) : wanted
  const channels = Array.isArray(manifest.channels) ? manifest.channels.filter(isObject) : []
  const names = Object.keys(servers)
  const declared = channels.map(({ server }) => server).filter((name) => names.includes(String(name)))
  const name = [bare, ...(declared.length === 1 ? declared : []), ...(names.length === 1 ? names : [])].find(
    (one) => typeof one === 'string' && Object.hasOwn(servers, one),
  )
  return name === undefined ? null : (servers[String(name)] ?? null)
}

function programOf(
  server: Record<string, unknown>,
  root: string,
  of: { readonly plugin: string; readonly name: string; readonly listed: Readonly<Record<string, string>> },
  sources: PluginSources,
): PluginProgram {
  const variables = { ...sources.variables, ...of.listed, CLAUDE_PLUGIN_ROOT: root }
  // A plugin names variables of its own choice: only those that the operator lists are given to it.
  const known = (name: string) =>
    Object.hasOwn(of.listed, name) || /^(PATH|HOME|USER|TMPDIR|CLAUDE_PLUGIN_ROOT)$/.test(name)
      ? variables[name as keyof typeof variables]
      : undefined
  const fill = (text: string) =>
    text.replace(/\$\{([A-Za-z_][\w.]*)(?::-([^}]*))?\}/g, (_whole, name: string, otherwise?: string) => {
      const value = known(name) ?? otherwise
      if (value !== undefined) return value
      throw invalid(
        `plugin ${of.plugin} asks for the variable ${name}`,
        `list it under mcp_servers.${of.name}.env`,
      )
    })
  const texts = (value: unknown): Record<string, string> =>
    Object.fromEntries(
      Object.entries(isObject(value) ? value : {}).flatMap(([key, text]) =>
        typeof text === 'string' ? [[key, fill(text)]] : [],
      ),
    )
  const { command, url, cwd, args } = server
  if ((typeof command === 'string') === (typeof url === 'string'))
    throw invalid(`the MCP server of plugin ${of.plugin} has no command`, 'its .mcp.json is malformed')
  return {
    ...(typeof command === 'string' ? { command: fill(command) } : {}),
    ...(typeof url === 'string' ? { url: fill(url) } : {}),
    args: Array.isArray(args) ? args.map((one) => fill(String(one))) : [],
    env: { ...texts(server.env), CLAUDE_PLUGIN_ROOT: root },
    cwd: typeof cwd === 'string' ? resolve(root, fill(cwd)) : root,
    headers: texts(server.headers),
  }
}

function objectIn(path: string, sources: PluginSources): Record<string, unknown> | null {
  try {
    const decoded = decodeText((sources.readFile ?? readFileBounded)(path))
    const value: unknown = 'text' in decoded ? JSON.parse(decoded.text) : null
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isFolderName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string, hint: string): SwitchboardError {
  return new SwitchboardError('config_invalid', message, { hint })
}
