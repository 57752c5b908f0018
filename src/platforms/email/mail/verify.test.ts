// The sender of a mail: headers of providers, forged headers, and DKIM signatures checked against the test's own DNS.
import { createHash, generateKeyPairSync } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { describe, expect, it, vi } from 'vitest'
import { readConfig } from '../config.ts'
import { signedMail } from '../fixtures/signed-mail.ts'
import { plusTag, saidSender } from './addresses.ts'
import { type TxtLookUp, verifyDkim } from './dkim.ts'
import { readHeaders } from './headers.ts'
import { judgeResults, type Proof, parseAuthResults, proveSender } from './verify.ts'

const fields = (...lines: readonly string[]) => readHeaders(Buffer.from(`${lines.join('\r\n')}\r\n\r\nbody`))
const judge = (ids: readonly string[], sender: string, ...lines: readonly string[]) =>
  judgeResults(fields(...lines), { authservIds: ids, belowReceived: false }, sender)
const isProven = (proof: Proof | null) => proof?.proven === true

const RECEIVED = 'Received: from mail.evil.test by mx.gw.test; Mon, 16 Nov 2026 10:00:00 +0000'

describe('Authentication-Results', () => {
  // Stamps in the providers' forms, with other names.
  const STAMPS: readonly (readonly [string, readonly string[], string, readonly string[]])[] = [
    [
      'Gmail',
      ['mx.google.com'],
      'kate@home.test',
      [
        'Authentication-Results: mx.google.com;\r\n dkim=pass header.i=@home.test header.s=fm2 header.b=9iLihtf9;\r\n spf=pass (google.com: domain of kate@home.test designates 66.111.4.28 as permitted sender) smtp.mailfrom=kate@home.test;\r\n dmarc=pass (p=NONE sp=NONE dis=NONE) header.from=home.test',
      ],
    ],
    [
      'Fastmail, in four headers',
      ['*.messagingengine.com'],
      'kate@home.test',
      [
        'Authentication-Results: mx6.messagingengine.com; x-csa=none; x-me-sender=none; x-ptr=pass',
        'Authentication-Results: mx6.messagingengine.com; bimi=skipped',
        'Authentication-Results: mx6.messagingengine.com; arc=none (no signatures found)',
        'Authentication-Results: mx6.messagingengine.com; dkim=pass (2048-bit rsa key sha256) header.d=home.test header.i=@home.test; dmarc=pass policy.published-domain-policy=none header.from=home.test; spf=pass smtp.mailfrom=kate@home.test',
      ],
    ],
    [
      'iCloud, with four ids',
      ['dmarc.icloud.com', 'dkim-verifier.icloud.com', 'spf.icloud.com'],
      'kate@home.test',
      [
        'Authentication-Results: bimi.icloud.com; bimi=none',
        'Authentication-Results: dmarc.icloud.com; dmarc=pass header.from=home.test',
        'Authentication-Results: spf.icloud.com; spf=pass (spf.icloud.com: domain) smtp.mailfrom=kate@home.test',
      ],
    ],
    [
      'OpenDKIM, a signature alone',
      ['mx.gw.test'],
      'kate@home.test',
      [
        'Authentication-Results: mx.gw.test; dkim=pass (2048-bit key; unprotected) header.d=home.test header.i=@home.test header.b="gJ"; dkim-atps=neutral',
      ],
    ],
    [
      'rspamd, SPF alone',
      ['mx.gw.test'],
      'kate@home.test',
      ['Authentication-Results: mx.gw.test 1; spf=pass (mx) smtp.mailfrom="kate@home.test"'],
    ],
  ]
  it.each(STAMPS)('[I19.who-results] [S4.email-authserv] %s is believed', (_name, ids, sender, lines) => {
    expect(isProven(judge(ids, sender, ...lines, RECEIVED))).toBe(true)
    // Results of another server do not count.
    expect(judge(['mx.other.test'], sender, ...lines, RECEIVED)).toBeNull()
  })

  const FORGED: readonly (readonly [string, readonly string[]])[] = [
    ['of another id', ['Authentication-Results: mx.evil.test; dmarc=pass header.from=home.test']],
    [
      'below the next hop',
      [
        'Authentication-Results: mx.gw.test; dmarc=none header.from=home.test',
        RECEIVED,
        'Authentication-Results: mx.gw.test; dmarc=pass header.from=home.test',
      ],
    ],
    [
      'below the server’s own',
      [
        'Authentication-Results: mx.gw.test; dmarc=fail header.from=home.test',
        'Authentication-Results: mx.gw.test; dmarc=pass header.from=home.test',
      ],
    ],
    [
      'in a comment',
      [
        'Authentication-Results: mx.gw.test; spf=fail (sender said "; dmarc=pass header.from=home.test ( ;dmarc=pass header.from=home.test)") smtp.mailfrom=x@evil.test',
      ],
    ],
    [
      'in a comment within a comment, and behind that one',
      [
        'Authentication-Results: mx.gw.test; spf=fail (said (by him) ; dmarc=pass header.from=home.test) smtp.mailfrom=x@evil.test',
      ],
    ],
    [
      'in a quoted string',
      ['Authentication-Results: mx.gw.test; spf=fail smtp.mailfrom="x; dmarc=pass header.from=home.test"'],
    ],
    [
      'a pass for another domain',
      [
        'Authentication-Results: mx.gw.test; dmarc=pass header.from=evil.test; spf=pass smtp.mailfrom=x@evil.test; dkim=pass header.d=evil.test',
      ],
    ],
    [
      'a domain that only ends alike',
      ['Authentication-Results: mx.gw.test; dkim=pass header.d=notmyhome.test header.i=@evilhome.test'],
    ],
    [
      'a signer whose name is not below the domain that signed',
      ['Authentication-Results: mx.gw.test; dkim=pass header.d=evil.test header.i=@home.test'],
    ],
    [
      'a second property of the same name',
      ['Authentication-Results: mx.gw.test; dmarc=pass header.from=evil.test header.from=home.test'],
    ],
    ['dmarc=none', ['Authentication-Results: mx.gw.test; dmarc=none header.from=home.test']],
    [
      'a fail beside a pass',
      [
        'Authentication-Results: mx.gw.test; dmarc=fail header.from=home.test; dkim=pass header.d=home.test; spf=pass smtp.mailfrom=kate@home.test',
      ],
    ],
    [
      'without an id',
      ['Authentication-Results: dmarc=pass header.from=home.test; spf=pass smtp.mailfrom=kate@home.test'],
    ],
    [
      'ARC and Received-SPF',
      [
        'ARC-Authentication-Results: i=1; mx.gw.test; dmarc=pass header.from=home.test',
        'Received-SPF: pass (mx.gw.test)',
      ],
    ],
  ]
  it.each(FORGED)('[I19.who-forged] %s proves nothing', (_name, lines) => {
    expect(isProven(judge(['mx.gw.test'], 'kate@home.test', ...lines))).toBe(false)
  })

  it.each(STAMPS)(
    '[I35.b10] [S4.email-authserv] %s below the topmost Received is believed only where the configuration says so',
    (_name, ids, sender, lines) => {
      expect(judge(ids, sender, RECEIVED, ...lines)).toMatchObject({
        proven: false,
        misplaced: true,
        why: expect.stringContaining('results_below_received'),
      })
      const below = { authservIds: ids, belowReceived: true }
      expect(isProven(judgeResults(fields(RECEIVED, ...lines), below, sender))).toBe(true)
    },
  )

  it('[I35.b10] what stands below the next hop proves nothing even then', () => {
    const trust = { authservIds: ['mx.gw.test'], belowReceived: true }
    // The same holds for a method that the server itself did not report.
    for (const told of ['dmarc=none header.from=home.test', 'spf=none'])
      for (const hops of [[RECEIVED], [RECEIVED, RECEIVED]]) {
        const forged = fields(
          ...hops.slice(1),
          `Authentication-Results: mx.gw.test; ${told}`,
          RECEIVED,
          'Authentication-Results: mx.gw.test; dmarc=pass header.from=home.test',
        )
        expect([told, isProven(judgeResults(forged, trust, 'kate@home.test'))]).toEqual([told, false])
      }
  })

  it.each([
    ['evil@evil.test,kate@home.test'],
    ['evil@evil.test, kate@home.test'],
    ['evil@evil.test kate@home.test'],
    ['kate@home.test evil@evil.test'],
    ['kate@home.test,evil@evil.test'],
    ['<evil@evil.test>,<kate@home.test>'],
    ['"evil@evil.test kate"@home.test'],
    ['evil@evil.test@home.test'],
    ['home.test'],
  ])('[I35.b10] smtp.mailfrom=%s is not exactly one address and proves nothing', (mailfrom) => {
    const spf = (value: string) =>
      judge(
        ['mx.gw.test'],
        'kate@home.test',
        `Authentication-Results: mx.gw.test; spf=pass smtp.mailfrom=${value} smtp.helo=mx.home.test`,
      )
    expect(isProven(spf(mailfrom))).toBe(false)
    expect(isProven(spf('kate@home.test'))).toBe(true)
    expect(isProven(spf('<kate@home.test>'))).toBe(true)
  })

  it.each([
    'spf=pass (gw.test: domain of "a) ; spf=pass smtp.mailfrom=kate@home.test ; x=y ("@evil.test passes) smtp.mailfrom=evil@evil.test',
    'spf=none (helo=a); spf=pass smtp.mailfrom=kate@home.test (b) smtp.mailfrom=evil@evil.test',
    'dmarc=pass header.from=home.test header.from=evil.test',
    'dmarc=fail (policy of "a) header.from=home.test\nAuthentication-Results: mx.gw.test; spf=pass smtp.mailfrom=kate@home.test',
  ])('[I35.b10] what a sender could have put into the results proves nothing: %s', (results) => {
    const lines = `Authentication-Results: mx.gw.test; ${results}`.split('\n')
    expect(isProven(judge(['mx.gw.test'], 'kate@home.test', ...lines))).toBe(false)
  })

  it('[I35.b10] mails of Gmail, Fastmail and iCloud have them below, and of no other server, unless the configuration says otherwise', () => {
    const login = { user: 'bot', password: 'env:MAIL' }
    const believesBelow = (host: string, more: object = {}) => {
      const options = { address: 'bot@gw.test', imap: { host, ...login }, smtp: { host, ...login }, ...more }
      return readConfig({ secret: () => 'secret', integration: { id: 'em', options } }).belowReceived
    }
    const known = ['imap.gmail.com', 'imap.fastmail.com', 'IMAP.mail.me.com']
    const others = ['mx.example.org', 'notgmail.com.example.org', 'imap.gmail.com.example.org']
    expect(known.map((host) => believesBelow(host))).toEqual([true, true, true])
    expect(others.map((host) => believesBelow(host))).toEqual([false, false, false])
    for (const results_below_received of [true, false])
      expect([...known, ...others].map((host) => believesBelow(host, { results_below_received }))).toEqual(
        Array.from({ length: 6 }, () => results_below_received),
      )
  })

  it('says what the server told where that proves nothing', () => {
    const whyUnproven = (results: string) => {
      const proof = judge(['mx.gw.test'], 'kate@home.test', `Authentication-Results: mx.gw.test; ${results}`)
      return proof && 'why' in proof ? proof.why : null
    }
    expect(whyUnproven('spf=fail smtp.mailfrom=x@evil.test; dkim=none')).toContain('(spf=fail, dkim=none)')
    expect(whyUnproven('none')).toContain('(none)')
  })

  it('reads what is hostile in one go', () => {
    const deep = `mx.gw.test; ${'('.repeat(50_000)}dmarc=pass header.from=home.test`
    expect(parseAuthResults(deep).results).toEqual([])
    expect(parseAuthResults('').id).toBeNull()
    expect(parseAuthResults(`mx.gw.test; ${'a=b; '.repeat(50_000)}`).results.length).toBeLessThanOrEqual(100)
  })

  it('[S4.email-proven] [I19.who-dkim] without a header of the server the sender is refused with the reason, unless DKIM proves it', async () => {
    const unsigned = fields('From: kate@home.test', 'Subject: hi')
    const none = await proveSender(unsigned, 'kate@home.test', {
      required: true,
      authservIds: ['mx.gw.test'],
      belowReceived: false,
      dkim: null,
    })
    expect(none).toEqual({
      proven: false,
      why: 'no Authentication-Results of mx.gw.test, and DKIM is not verified here',
    })
    const never = async (): Promise<Proof> => Promise.reject(new Error('it was not to be asked'))
    const bare = await proveSender(unsigned, 'kate@home.test', {
      required: true,
      authservIds: [],
      belowReceived: false,
      dkim: never,
    })
    expect(bare).toEqual({
      proven: false,
      why: 'no authserv_id is configured, and the mail has no DKIM signature',
    })
    const open = await proveSender(unsigned, 'kate@home.test', {
      required: false,
      authservIds: [],
      belowReceived: false,
      dkim: never,
    })
    expect(isProven(open)).toBe(true)
    // A signature that is verified here proves the sender, whatever the server says.
    const failed = fields(
      'Authentication-Results: mx.gw.test; dmarc=fail header.from=home.test',
      'DKIM-Signature: v=1',
    )
    const proving = { required: true, authservIds: ['mx.gw.test'], belowReceived: false }
    const signed = { proven: true, by: 'dkim, verified here' } as const
    expect(await proveSender(failed, 'kate@home.test', { ...proving, dkim: async () => signed })).toEqual(
      signed,
    )
    const wrong = async (): Promise<Proof> => ({ proven: false, why: 'DKIM: evil.test=pass' })
    expect(await proveSender(failed, 'kate@home.test', { ...proving, dkim: wrong })).toEqual({
      proven: false,
      why: 'the server says dmarc=fail; DKIM: evil.test=pass',
    })
  })
})

describe('DKIM, verified here', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const der = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const dns =
    (records: Readonly<Record<string, string>>): TxtLookUp =>
    async (name) => {
      const found = records[name]
      if (found === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      return [[found]]
    }
  const KEYS = dns({
    's1._domainkey.home.test': `v=DKIM1; k=rsa; p=${der}`,
    's1._domainkey.evil.test': `v=DKIM1; k=rsa; p=${der}`,
  })
  const signed = (domain: string) => signedMail({ domain, selector: 's1', key: pem, from: 'kate@home.test' })

  it('[I19.who-dkim] a signature of the sender’s domain proves it; of another one, altered, or without a key it does not', async () => {
    const good = await signed('home.test')
    expect(isProven(await verifyDkim(good, 'kate@home.test', KEYS))).toBe(true)
    const other = await verifyDkim(await signed('evil.test'), 'kate@home.test', KEYS)
    expect(other).toMatchObject({ proven: false, why: expect.stringContaining('evil.test is not') })
    const altered = Buffer.from(
      Buffer.from(good).toString('latin1').replace('the body', 'the b0dy'),
      'latin1',
    )
    expect(isProven(await verifyDkim(altered, 'kate@home.test', KEYS))).toBe(false)
    expect(isProven(await verifyDkim(good, 'kate@home.test', dns({})))).toBe(false)
  })

  it('[I19.who-dkim] a name server that is away is asked again, and then the sender is refused with that', async () => {
    const good = await signed('home.test')
    let asked = 0
    const away: TxtLookUp = async (name) => {
      asked += 1
      if (asked === 1) throw Object.assign(new Error('timeout'), { code: 'ETIMEOUT' })
      return KEYS(name)
    }
    expect(isProven(await verifyDkim(good, 'kate@home.test', away))).toBe(true)
    const never: TxtLookUp = async () => {
      throw Object.assign(new Error('timeout'), { code: 'ETIMEOUT' })
    }
    expect(await verifyDkim(good, 'kate@home.test', never)).toMatchObject({
      proven: false,
      why: expect.stringContaining('temperror'),
    })
  })
})

describe('a field that stands twice', () => {
  it.each(['Subject: delete all', 'Message-ID: <another@x>', 'Content-Type: text/html', 'References: <y@z>'])(
    '[S4.email-proven] is read above, and signed below: a copy of a genuine mail under another %s proves nobody',
    async (line) => {
      const genuine = ['Subject: hi', 'Message-ID: <m@x>', 'Content-Type: text/plain', 'References: <x@z>']
      const stamp = 'Authentication-Results: mx.gw.test; dmarc=pass header.from=home.test'
      const trust = { required: true, authservIds: ['mx.gw.test'], belowReceived: false }
      const signed = async () => ({ proven: true, by: 'dkim, verified here' }) as const
      const prove = (...lines: readonly string[]) =>
        proveSender(fields(...lines), 'kate@home.test', { ...trust, dkim: signed })
      expect(isProven(await prove(stamp, 'DKIM-Signature: x', ...genuine))).toBe(true)
      for (const proof of [
        await prove(stamp, line, ...genuine),
        await prove('DKIM-Signature: x', line, ...genuine),
      ])
        expect(proof).toMatchObject({ proven: false, why: expect.stringMatching(/^the mail has two /) })
    },
  )
})

describe('what a signature may cost', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const der = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const signedMailOf = (more: string) =>
    signedMail({ domain: 'home.test', selector: 's1', key, from: 'kate@home.test' }).then((mail) =>
      Buffer.concat([Buffer.from(more), mail]),
    )
  const asked: string[] = []
  const lookUp: TxtLookUp = async (name) => {
    asked.push(name)
    if (name === 's1._domainkey.home.test') return [[`v=DKIM1; k=rsa; p=${der}`]]
    throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  }
  const signature = (tags: string) =>
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=home.test; s=s2; h=from; bh=AAAA; b=AAAA; ${tags}\r\n`

  it('[I35.mail-dkim-size] signatures that can prove nothing cost no look at the body and no question, and print nothing', async () => {
    const print = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    asked.length = 0
    // Each is valid for this body, and names a name server of its writer's choice.
    const bh = createHash('sha256').update('the body\r\n').digest('base64')
    const foreign = Array.from({ length: 300 }, (_, at) =>
      signature('').replace('home.test', `n${at}.evil.test`).replace('bh=AAAA', `bh=${bh}`),
    )
    const part = Array.from({ length: 300 }, (_, at) => signature(`l=${1_000 + at}`))
    const mail = await signedMailOf([...foreign, ...part].join(''))
    expect(isProven(await verifyDkim(mail, 'kate@home.test', lookUp))).toBe(true)
    expect(asked).toEqual(['s1._domainkey.home.test'])
    expect(print.mock.calls).toEqual([])
    print.mockRestore()
  })

  it.each([
    ['bytes', '32 MB', Buffer.alloc(33_554_433, 'abcdefg\r\n')],
    ['lines', '1000000 lines', Buffer.from('a\r\n'.repeat(1_000_001))],
    ['empty lines', '10000 empty lines', Buffer.from(' \t\r\n'.repeat(10_001))],
  ])(
    '[I35.mail-dkim-size] a mail of more %s than can be verified is not verified, and says so',
    async (_what, said, body) => {
      const mail = Buffer.concat([await signedMailOf(''), body])
      expect(await verifyDkim(mail, 'kate@home.test', lookUp)).toEqual({
        proven: false,
        why: expect.stringMatching(`^DKIM: not verified: the mail .*${said}`),
      })
    },
  )

  it.each([
    ['fields', 'lines', 'X: y\r\n'.repeat(2_001)],
    ['folds', 'lines', `X: y\r\n${' z\r\n'.repeat(2_001)}`],
    ['bytes', 'bytes', `X: ${'y'.repeat(131_072)}\r\n`],
  ])('[I35.mail-dkim-size] nor is one with a header of too many %s', async (_what, said, more) => {
    const proof = await verifyDkim(await signedMailOf(more), 'kate@home.test', lookUp)
    expect(proof).toMatchObject({
      proven: false,
      why: expect.stringMatching(`not verified: the header .*${said}`),
    })
  })

  it.each([
    ['one line', 'a', 32_000_000],
    ['spaces', ' ', 32_000_000],
    ['tabs', '\t', 32_000_000],
    ['line feeds', 'a\n', 1_900_000],
    ['lines that end in a space', 'a \r\n', 3_900_000],
    ['empty lines between', `${'\r\n'.repeat(9_000)}a\r\n`, 1_990_000],
  ])(
    '[I35.mail-dkim-size] the most that is verified takes under five seconds: %s',
    async (_name, piece, size) => {
      const mail = Buffer.from(
        `From: kate@home.test\r\n${signature('').repeat(20)}\r\n${piece.repeat(size / piece.length)}`,
      )
      const began = process.cpuUsage()
      const proof = await verifyDkim(mail, 'kate@home.test', lookUp)
      expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000)
      expect(proof).toMatchObject({ proven: false, why: expect.stringContaining('body hash') })
    },
  )

  it('[I35.mail-dkim-size] a mail of 24 MB in base64 is verified', async () => {
    const body = `${'A'.repeat(76)}\r\n`.repeat(320_000)
    const transport = createTransport({
      streamTransport: true,
      buffer: true,
      newline: 'windows',
      dkim: { domainName: 'home.test', keySelector: 's1', privateKey: key },
    })
    const raw = `From: kate@home.test\r\nSubject: hi\r\n\r\n${body}`
    const { message } = await transport.sendMail({
      envelope: { from: 'kate@home.test', to: 'bot@gw.test' },
      raw,
    })
    expect(isProven(await verifyDkim(message as Buffer, 'kate@home.test', lookUp))).toBe(true)
  })
})

describe('From', () => {
  const said = (...lines: readonly string[]) => saidSender(fields(...lines))

  it('[I19.who-names] names and Reply-To choose nobody', () => {
    expect(said('From: "boss@home.test" <kate@Evil.TEST>', 'Reply-To: boss@home.test')).toEqual({
      address: 'kate@evil.test',
      name: 'boss@home.test',
    })
    expect(said('From: =?utf-8?q?Kate_=E2=80=8BM?= <k@home.test>')).toMatchObject({ name: 'Kate M' })
  })

  it.each([
    ['two From', ['From: a@home.test', 'From: b@home.test']],
    ['none', ['Subject: x']],
    ['two addresses', ['From: a@home.test, b@home.test']],
    ['a zero-width character', ['From: k\u200bate@home.test']],
    ['a mark of direction', ['From: kate@\u202ehome.test']],
    ['no address', ['From: kate']],
    ['an empty one', ['From: <>']],
    ['a line break in it', ['From: <kate@home.test\u2028rcpt to:<x@evil.test>>']],
    ['10,000 of them', [`From: ${'a@home.test, '.repeat(10_000)}`]],
  ])('[I19.bad-from] %s is nobody', (_name, lines) => {
    expect(said(...lines)).toHaveProperty('problem')
  })

  it('[I19.bad-recipients] a plus-address is found among 10,000 recipients, and nothing else is', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => `person${at}@home.test`).join(', ')
    expect(plusTag(fields('To: Bot <bot+ops@gw.test>', `Cc: ${many}`), 'bot@gw.test')).toBe('ops')
    expect(plusTag(fields(`To: ${many}`), 'bot@gw.test')).toBeNull()
    expect(plusTag(fields('To: bot+@gw.test, bot+a b@gw.test'), 'bot@gw.test')).toBeNull()
    expect(plusTag(fields('Delivered-To: bot+k42@gw.test', 'To: bot+other@gw.test'), 'bot@gw.test')).toBe(
      'k42',
    )
  })
})
