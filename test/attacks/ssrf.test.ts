// A hundred ways to write an address inside, against the guard of foreign URLs: none of them may open a connection, nor
// may a redirect, or a name that resolves differently the next time.
import { createServer, type Server } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createGuardedFetch, type GuardedRequest, urlRefusal } from '../../src/kit/http/guarded-fetch.ts'
import { createStreamingFetch } from '../../src/kit/http/streaming-fetch.ts'

const clock = {
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}
let inside: Server
let port = 0
let taken = 0
beforeAll(async () => {
  inside = createServer((_, response) => response.end('inside')).on('connection', () => (taken += 1))
  await new Promise<void>((done) => inside.listen(0, '127.0.0.1', done))
  port = (inside.address() as AddressInfo).port
})
afterAll(() => void inside.close())
afterEach(() => void vi.restoreAllMocks())

/** The resolver of an attacker: every name of theirs leads here. */
const leadsTo = (...addresses: string[]) => {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return async () => found
}
const guarded = (more: Partial<GuardedRequest> & { url: string }): GuardedRequest => ({
  ...{ method: 'POST', body: 'x', timeoutMs: 2_000, maxResponseBytes: 1_000 },
  ...{ allowPrivate: false, allowHttp: true, ...more },
})
/** The code of the refusal; an answer is told as such. */
const codeOf = (asked: Promise<{ readonly status: number }>): Promise<string> =>
  asked.then(
    ({ status }) => `answered ${status}`,
    (thrown: { code?: string }) => String(thrown.code),
  )

// Hosts as one writes them into a URL. The first are the listener, in other spellings.
const LOOPBACK = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '017700000001', '0x7f000001', '0x7F.0x0.0x0.0x1'],
  ...['0177.0.0.1', '0177.0.0.01', '0x7f.1', '0x7f.0.1', '127.0x0.0.1', '00000177.0.0.1', '0x7f.0.0.01'],
  ...['127.0.0.1.', '127.1.', '2130706433.', '①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '１２７.0.0.1'],
  ...['%31%32%37.0.0.1', '127%2E0%2E0%2E1', '127.0.0.\t1', '0x7f.0x000001'],
  ...['user@127.0.0.1', 'example.com@127.0.0.1', 'example.com:80@127.0.0.1', 'a:b@127.1', '@127.0.0.1'],
  ...['example.com%2F@127.0.0.1', 'example.com%23@127.0.0.1', 'example.com%5C@127.0.0.1'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[0:0:0:0:0:FFFF:127.0.0.1]'],
]
const ELSEWHERE = [
  ...[
    '127.0.0.2',
    '127.255.255.254',
    '127.127.127.127',
    '127.0.0.0x',
    '0.0.0.0',
    '0',
    '0x0',
    '00',
    '0.1',
    '0.0.0.1',
  ],
  ...['10.0.0.1', '10.255.255.255', '167772161', '012.0.0.1', '0xa000001', '172.16.0.1', '172.31.255.254'],
  ...[
    '0xac.0x10.0.1',
    '192.168.0.1',
    '192.168.257',
    '0300.0250.0.1',
    '3232235521',
    '198.18.0.1',
    '198.19.1.1',
  ],
  // Carriers' networks, and addresses at which clouds answer with credentials.
  ...['100.64.0.1', '100.127.255.254', '100.100.100.200', '0x64.64.0.1', '169.254.169.254', '169.254.170.2'],
  ...['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '169.254.169.254.', '192.0.0.192'],
  ...['192.0.2.1', '192.88.99.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.250', '240.0.0.1'],
  ...['255.255.255.255', '0xffffffff', '4294967295', '037777777777'],
  ...[
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
    '[::]',
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[::ffff:0:127.0.0.1]',
  ],
  ...[
    '[::ffff:a9fe:a9fe]',
    '[::ffff:169.254.169.254]',
    '[::ffff:10.0.0.1]',
    '[::ffff:c0a8:1]',
    '[::ffff:0:0]',
  ],
  ...[
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::a00:1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:7f00:1::1]',
  ],
  ...[
    '[fe80::1]',
    '[fe80::a9fe:a9fe]',
    '[febf::1]',
    '[fec0::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fd12:3456::1]',
  ],
  ...['[ff02::1]', '[2001:db8::1]', '[100::1]', '[5f00::1]', '[fe80::5efe:127.0.0.1]', '[3fff::1]', '[::2]'],
]
/** Refused before anybody asks where it leads. */
const MALFORMED = [
  ...['http://[fe80::1%25eth0]/', 'http://[::1%25lo]/', 'http://[::1%lo]/', 'http://127.0.0.1:65536/'],
  ...['http://256.256.256.256/', 'http://4294967296/', 'http://0x100000000/'],
  ...[
    'http://127.0.0.1%2f/',
    'http://[::1/',
    'http://::1/',
    'http:// 127.0.0.1 x/',
    'http://127.0.0.1%00/',
    '',
  ],
  ...[
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:6379/_INFO',
    'dict://127.0.0.1:11211/stat',
  ],
  ...[
    'ws://127.0.0.1/',
    'unix:/var/run/docker.sock',
    'data:text/plain,x',
    'javascript:1',
    'ldap://127.0.0.1/',
  ],
  ...['blob:http://127.0.0.1/x', 'view-source:http://127.0.0.1/', 'jar:http://127.0.0.1!/x', 'about:blank'],
  ...['//127.0.0.1/', '/etc/passwd', '127.0.0.1', 'http+unix://%2Fvar%2Frun%2Fx.sock/', 'http:'],
]
/** Names that anybody can have, resolved by a resolver that answers with the listener. */
const NAMES = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'localhost.localdomain', 'ip6-localhost'],
  ...[
    '127.0.0.1.nip.io',
    '7f000001.rbndr.us',
    'localtest.me',
    'metadata.google.internal',
    'xn--lclhost-8ya5d',
  ],
  ...[
    'lócalhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'example.com',
    'example.com.',
    'kubernetes.default.svc',
    '127.0.0.1.example.com',
  ],
]
/** What a resolver can answer; one closed address among open ones closes the name. */
const ANSWERS = [
  ...[['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['0:0:0:0:0:ffff:127.0.0.1'], ['::ffff:7f00:0001']],
  ...[['0000:0000:0000:0000:0000:ffff:7f00:0001'], ['fe80::1%eth0'], ['::1%lo'], ['::ffff:169.254.169.254']],
  ...[
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['2606:4700::1', '::1'],
    ['8.8.8.8', '169.254.169.254'],
  ],
  ...[['127.1'], ['2130706433'], ['0x7f000001'], ['localhost'], [''], ['8.8.8.8', ''], ['8.8.8.8 ']],
]

const connecting = () => vi.spyOn(Socket.prototype, 'connect')

it('[I14.attack-ssrf] it is more than a hundred forms, and each of them once', () => {
  const forms = [...LOOPBACK, ...ELSEWHERE, ...MALFORMED, ...NAMES]
  expect(forms.length).toBeGreaterThan(150)
  expect(new Set(ELSEWHERE).size).toBe(ELSEWHERE.length)
})

it('[I14.attack-ssrf] the listener is there: whoever may reach it does, in each of its spellings', async () => {
  const fetchGuarded = createGuardedFetch({ clock })
  const before = taken
  for (const host of LOOPBACK) {
    const asked = fetchGuarded(guarded({ url: `http://${host}:${port}/`, allowPrivate: true }))
    expect([host, await codeOf(asked)]).toEqual([host, 'answered 200'])
  }
  expect(taken - before).toBe(LOOPBACK.length)
})

it('[I14.attack-ssrf] no spelling of a private address opens a connection, on no port', async () => {
  const connect = connecting()
  const before = taken
  const resolve = vi.fn(leadsTo('127.0.0.1'))
  const fetchGuarded = createGuardedFetch({ clock, resolve })
  for (const host of [...LOOPBACK, ...ELSEWHERE]) {
    for (const url of [
      `http://${host}:${port}/`,
      `https://${host}/`,
      `http://${host}:6379/x?y#@example.com`,
    ]) {
      expect([url, await codeOf(fetchGuarded(guarded({ url })))]).toEqual([url, 'forbidden'])
      expect([url, urlRefusal(guarded({ url }))?.code]).toEqual([url, 'forbidden'])
    }
  }
  // Nobody was even asked: what is an address in some spelling is never looked up as a name.
  expect(resolve).not.toHaveBeenCalled()
  expect([connect.mock.calls.length, taken - before]).toEqual([0, 0])
})

it('[I14.attack-ssrf] other schemes and malformed hosts are refused, and so is http: where it was not allowed', async () => {
  const connect = connecting()
  const fetchGuarded = createGuardedFetch({ clock, resolve: leadsTo('8.8.8.8') })
  for (const url of MALFORMED) {
    expect([url, await codeOf(fetchGuarded(guarded({ url })))]).toEqual([url, 'input_invalid'])
    expect([url, urlRefusal(guarded({ url, allowPrivate: true }))?.code]).toEqual([url, 'input_invalid'])
  }
  const plain = guarded({ url: 'http://example.com/', allowHttp: false })
  expect(await codeOf(fetchGuarded(plain))).toBe('input_invalid')
  expect(connect).not.toHaveBeenCalled()
})

it('[I14.attack-ssrf] no name that leads inside opens a connection, whatever form the answer has', async () => {
  const connect = connecting()
  for (const host of NAMES) {
    const fetchGuarded = createGuardedFetch({ clock, resolve: leadsTo('127.0.0.1') })
    const asked = fetchGuarded(guarded({ url: `http://${host}:${port}/` }))
    expect([host, await codeOf(asked)]).toEqual([host, 'forbidden'])
  }
  for (const answer of ANSWERS) {
    const fetchGuarded = createGuardedFetch({ clock, resolve: leadsTo(...answer) })
    const asked = fetchGuarded(guarded({ url: `http://example.com:${port}/` }))
    expect([answer, await codeOf(asked)]).toEqual([answer, 'forbidden'])
  }
  // The system's own resolver knows this one.
  expect(await codeOf(createGuardedFetch({ clock })(guarded({ url: `http://localhost:${port}/` })))).toBe(
    'forbidden',
  )
  expect(connect).not.toHaveBeenCalled()
})

it('[I14.attack-ssrf] metadata addresses stay closed where private ones are open, also to the streaming fetch', async () => {
  const connect = connecting()
  const closed = ELSEWHERE.filter((host) =>
    /169\.254|a9fe|2852039166|0251|fe80|ec2|^0|\[::\]|ff02|\[64:|\[200/.test(host),
  )
    // These are private networks in a spelling that begins with a nought.
    .filter((host) => !/^(012\.|0xa000001|0xac\.|0300\.|0x64\.)/.test(host))
  expect(closed.length).toBeGreaterThan(25)
  const fetchGuarded = createGuardedFetch({ clock })
  const fetchStreaming = createStreamingFetch({ clock, headTimeoutMs: 1_000 })
  for (const host of closed) {
    const url = `http://${host}:${port}/`
    expect([url, await codeOf(fetchGuarded(guarded({ url, allowPrivate: true })))]).toEqual([
      url,
      'forbidden',
    ])
    expect([url, await codeOf(fetchStreaming(url))]).toEqual([url, 'forbidden'])
  }
  expect(connect).not.toHaveBeenCalled()
})

it.each([301, 302, 303, 307, 308])(
  '[I14.attack-ssrf] a redirect (%i) to the inside is an answer and no way',
  async (status) => {
    const before = taken
    const places = [`http://127.0.0.1:${port}/`, `//127.0.0.1:${port}/`, `http://[::ffff:7f00:1]:${port}/`]
    const outside = createServer((request, response) =>
      response.writeHead(status, { location: places[Number(request.url?.slice(1))] }).end(),
    )
    await new Promise<void>((done) => outside.listen(0, '127.0.0.1', done))
    const base = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
    const fetchGuarded = createGuardedFetch({ clock })
    const fetchStreaming = createStreamingFetch({ clock, headTimeoutMs: 1_000 })
    for (const at of places.keys()) {
      const url = `${base}/${at}`
      expect(await codeOf(fetchGuarded(guarded({ url, allowPrivate: true })))).toBe(`answered ${status}`)
      expect(await codeOf(fetchStreaming(url, { method: 'POST', body: 'x' }))).toBe(`answered ${status}`)
    }
    outside.close()
    expect(taken).toBe(before)
  },
)

it('[I14.attack-ssrf] a name that is public when it is checked and private afterwards is asked once, and the checked address is taken', async () => {
  const reached: unknown[] = []
  // Nothing leaves this machine: the socket tells what it would have connected to, and fails.
  connecting().mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [given] = args as [{ host: string; lookup: (...asked: unknown[]) => void } | [never]]
    const options = Array.isArray(given) ? (given[0] as never) : given
    const { host, lookup } = options as { host: string; lookup: (...asked: unknown[]) => void }
    lookup(host, { all: true }, (_: unknown, found: unknown) => reached.push(found))
    lookup(host, {}, (_: unknown, address: unknown) => reached.push(address))
    process.nextTick(() => this.destroy(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })))
    return this
  } as never)
  let asked = 0
  const resolve = async () => {
    asked += 1
    return [{ address: asked === 1 ? '8.8.8.8' : '127.0.0.1', family: 4 }]
  }
  const fetchGuarded = createGuardedFetch({ clock, resolve })
  const url = `http://rebind.example.com:${port}/`
  expect(await codeOf(fetchGuarded(guarded({ url })))).toBe('platform_unavailable')
  expect(reached).toEqual([[{ address: '8.8.8.8', family: 4 }], '8.8.8.8'])
  expect(asked).toBe(1)
  // The next request checks anew.
  expect(await codeOf(fetchGuarded(guarded({ url })))).toBe('forbidden')
  expect(reached).toHaveLength(2)
})
