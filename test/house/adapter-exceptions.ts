// Where core, contract and store may name an adapter, and why. A path that ends in '/' is a folder.

export type MayKnow = Readonly<Record<string, readonly [words: string, why: string]>>

/** Where the contract and the store may name an adapter. */
export const MAY_NAME: MayKnow = {
  'src/contract/platform/channel-servers.ts': [
    'mcp http',
    'CHANNEL_PLATFORM: bindings and mcp_servers call it that; a transport',
  ],
  'src/contract/agent/agent.ts': ['chorus', 'a kind of token'],
  'src/store/reads/sending.ts': ['channel', 'the name of a column'],
}

/** Where the core may have a platform's name in an identifier. */
export const CORE_MAY_NAME: MayKnow = {
  'src/core/dispatch/delivery.ts': ['mcp', 'MCP_SERVERS_REF: where servers that are lent to a turn are kept'],
}

/** The words that the table allows to a file: those of its own row and of the rows of its folders. */
function allowedTo(file: string, table: MayKnow): readonly string[] {
  return Object.entries(table).flatMap(([path, [words]]) =>
    path === file || (path.endsWith('/') && file.startsWith(path)) ? words.split(' ') : [],
  )
}

/** `wrong` lists `file: word` that the table does not allow. `idle` lists `path: word` that it allows without need. */
export function compare(known: ReadonlyMap<string, ReadonlySet<string>>, table: MayKnow) {
  const wrong = [...known].flatMap(([file, words]) => {
    const allowed = allowedTo(file, table)
    return [...words].filter((word) => !allowed.includes(word)).map((word) => `${file}: ${word}`)
  })
  const idle = Object.entries(table).flatMap(([path, [words]]) =>
    words
      .split(' ')
      .filter(
        (word) =>
          ![...known].some(
            ([file, has]) => has.has(word) && allowedTo(file, { [path]: [words, ''] }).length > 0,
          ),
      )
      .map((word) => `${path}: ${word}`),
  )
  return { wrong, idle }
}
