// Files of the chat on three nodes that share a store: uploaded at one, sent at another, read at the third.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryRiver, type MemoryRiver } from '../../../test/browser/memory-river.ts'
import {
  type FileMirror,
  type HttpReply,
  isReply,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import { createFileMirror } from '../../gateway/files/file-mirror.ts'
import { openStore } from '../../store/open.ts'
import { sharedPostgres } from '../../testing/postgres/server.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'

interface Node {
  readonly river: MemoryRiver
  readonly store: Store
  readonly dir: string
  ask(method: string, target: string, body?: Uint8Array | object, sender?: string): Promise<HttpReply>
}

let nodes: Node[] = []
/** Whether the database is unavailable. */
let away = false

async function openNode(name: string, url: string): Promise<Node> {
  const clock = createTestClock()
  const random = createTestRandom(name)
  const store = await openStore(url, { clock, random, node: name, ledgerKey: Buffer.alloc(32, 7) })
  const real = createFileMirror(store, 'web')
  const reached = <T>(call: () => Promise<T>) =>
    away ? Promise.reject(new SwitchboardError('store_unavailable', 'the database is away')) : call()
  const mirror: FileMirror = {
    put: (file, bytes) => reached(() => real.put(file, bytes)),
    get: (file) => reached(() => real.get(file)),
  }
  const river = await createMemoryRiver({ clock, random, mirror })
  const ask: Node['ask'] = async (method, target, body = new Uint8Array(), sender = 'owner') => {
    const at = new URL(target, 'http://127.0.0.1:4747')
    const scope = { integration: 'web', sender }
    const { token } = await river.tokens.mint({ kind: 'web', scope, ttlMs: null })
    const endpoint = river.platform.endpoint
    if (endpoint === undefined) throw new Error('the web chat has an endpoint')
    const outcome = await endpoint.verify({
      method,
      path: at.pathname,
      query: at.searchParams,
      headers: {
        host: at.host,
        origin: at.origin,
        'content-type': body instanceof Uint8Array ? 'text/plain' : 'application/json',
        cookie: `swb_chat_${at.port}=${token}`,
      },
      body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
      fromLoopback: true,
    })
    return isReply(outcome) ? outcome : endpoint.handle(outcome)
  }
  return { river, store, dir: river.deps.filesDir, ask }
}

beforeEach(async () => {
  away = false
  const url = await (await sharedPostgres()).freshDatabase()
  nodes = []
  for (const name of ['a', 'b', 'c']) nodes.push(await openNode(name, url))
})
afterEach(async () => {
  for (const { store, dir } of nodes) {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
})
afterAll(async () => (await sharedPostgres()).stop())

const three = (): [Node, Node, Node] => nodes as [Node, Node, Node]
const upload = async (node: Node, text = 'hello') => {
  const reply = await node.ask('POST', '/upload?name=notes.txt', Buffer.from(text))
  expect(reply.status).toBe(200)
  return (JSON.parse(String(reply.body)) as { id: string }).id
}
const said = (attachments: readonly string[]) => ({ clientId: 'client-1001', text: 'see', attachments })

describe('a file taken by one node', () => {
  it('[I6.files-shared] goes with a message through another, is read by an agent at it, and is served by a third', async () => {
    const [a, b, c] = three()
    const id = await upload(a)
    expect((await b.ask('POST', '/messages', said([id]))).status).toBe(200)
    expect(b.river.received[0]).toMatchObject({ attachments: [{ id, name: 'notes.txt', size: 5 }] })
    // Sending needs only the description, and leaves a mark that the file stays.
    expect(readdirSync(b.dir).sort()).toEqual([`${id}.json`, `${id}.taken`])
    const file = await b.river.platform.files?.download?.({ id, kind: 'file', ref: id })
    expect(file).toMatchObject({ path: join(b.dir, `${id}.txt`), name: 'notes.txt', mime: 'text/plain' })
    expect(readFileSync(file?.path ?? '', 'utf8')).toBe('hello')
    expect(statSync(file?.path ?? '').mode & 0o777).toBe(0o600)

    await a.store.close()
    rmSync(a.dir, { recursive: true })
    const served = await c.ask('GET', `/files/${id}`)
    expect([served.status, Buffer.from(served.body as Uint8Array).toString()]).toEqual([200, 'hello'])
  })

  it('[I6.files-shared] is nobody else’s to send, on no node', async () => {
    const [a, b] = three()
    const id = await upload(a)
    const reply = await b.ask('POST', '/messages', said([id]), 'kate')
    expect([reply.status, String(reply.body)]).toEqual([400, expect.stringContaining('there is no file')])
  })

  it('[I6.files-shared] may be what an agent sends: kept at one, sent by another, served by a third', async () => {
    const [a, b, c] = three()
    const ref = await a.river.platform.files?.keep?.({
      name: 'r.txt',
      mime: 'text/plain',
      bytes: Buffer.from('report'),
    })
    await b.river.say({ kind: 'file', name: 'r.txt', mime: 'text/plain', ref: ref ?? '' })
    expect(Buffer.from((await c.ask('GET', `/files/${ref}`)).body as Uint8Array).toString()).toBe('report')
  })

  it('[I6.files-names] a description that names a place instead of a file leads nowhere', async () => {
    const [a, b] = three()
    const id = 'c'.repeat(32)
    const description = {
      name: 'x',
      mime: 'text/plain',
      size: 1,
      sender: 'owner',
      stored: '../../etc/passwd',
    }
    await a.store.keepFile({
      integration: 'web',
      name: `${id}.json`,
      bytes: Buffer.from(JSON.stringify(description)),
    })
    expect((await b.ask('GET', `/files/${id}`)).status).toBe(404)
    await expect(b.river.platform.files?.download?.({ id, kind: 'file', ref: id })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('the database is away', () => {
  it('[I6.files-truth] an upload is refused, takes no room and leaves nothing behind', async () => {
    const [a, b] = three()
    away = true
    const reply = await a.ask('POST', '/upload?name=a.txt', Buffer.from('hello'))
    expect([reply.status, String(reply.body)]).toEqual([503, expect.stringContaining('store_unavailable')])
    expect(readdirSync(a.dir)).toEqual([])
    away = false
    expect((await b.ask('GET', `/files/${await upload(a)}`)).status).toBe(200)
  })

  it('[I6.files-truth] what lies elsewhere is not called missing: message, send and download are to be tried again', async () => {
    const [a, b] = three()
    const id = await upload(a)
    away = true
    expect((await b.ask('POST', '/messages', said([id]))).status).toBe(503)
    expect((await b.ask('GET', `/files/${id}`)).status).toBe(503)
    const sent = b.river.say({ kind: 'file', name: 'x', mime: 'text/plain', ref: id })
    await expect(sent).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(b.river.received).toEqual([])
    expect((await a.ask('GET', `/files/${id}`)).status).toBe(200)
    away = false
    expect((await b.ask('POST', '/messages', said([id]))).status).toBe(200)
  })
})
