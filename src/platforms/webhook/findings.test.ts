// The findings of `doctor --security` about hooks: every access that their options leave open, with severity and key.
import { expect, it } from 'vitest'
import type { ApprovalsOpened } from '../../contract/index.ts'
import { testIntegration } from '../../testing/test-settings.ts'
import { webhookModule } from './module.ts'

const NEAR = { host: '127.0.0.1', near: true, public: false }

function found(
  options: Readonly<Record<string, unknown>>,
  server = NEAR,
  opens: ApprovalsOpened = { approvers: [], real: true },
) {
  const all = webhookModule.security?.(testIntegration('ci', { options }), server, opens) ?? []
  return all.map(({ severity, key, what }) => [severity, key, what])
}

it('[I35.b45-local-approver] a hook that believes a header is rated by what its approvers open', () => {
  const rated = (options: Record<string, unknown>, opens: ApprovalsOpened) =>
    found(options, NEAR, opens).map(([severity]) => severity)
  const header = { sender_header: 'X-Sender' }
  const dev = { approvers: ['dev'], real: true }
  expect(rated(header, { approvers: [], real: true })).toEqual(['low'])
  expect(rated(header, dev)).toEqual(['high'])
  expect(rated({ ...header, behind_proxy: true }, dev)).toEqual(['high'])
  // The demo agent runs nothing.
  expect(rated(header, { ...dev, real: false })).toEqual(['medium'])
  expect(found(header, NEAR, dev)[0]?.[2]).toContain(
    'any program or user here can say who it is, and approve as dev',
  )
  expect(rated({ auth: 'loopback' }, dev)).toEqual(['low'])
  expect(rated({ auth: 'loopback' }, { approvers: ['local'], real: true })).toEqual(['high'])
})

it.each([
  ['low', 'secret', 'any program or user here', false, NEAR],
  ['medium', 'behind_proxy', 'refuses everybody', false, { ...NEAR, public: true }],
  ['low', 'secret', 'the proxy must set it', true, { ...NEAR, public: true }],
  [
    'high',
    'secret',
    '0.0.0.0 is reached without the proxy',
    true,
    { host: '0.0.0.0', near: false, public: true },
  ],
])('[I14.doctor-security] an unsigned hook: %s, %s, %s', (severity, key, words, behind_proxy, server) => {
  expect(found({ sender_header: 'X-Sender', behind_proxy }, server)).toEqual([
    [
      severity,
      `integrations[0].${key}`,
      expect.stringMatching(`^hook ci is unsigned and believes the header X-Sender.*${words}`),
    ],
  ])
})

it('[I14.doctor-security] a hook whose secret travels', () => {
  expect(found({ secret: 'env:S' })).toEqual([])
  expect(found({ secret: 'env:S', signature: 'plain' })).toEqual([
    [
      ...['low', 'integrations[0].signature'],
      'hook ci is sent its secret in a header: nothing signs the body; github signs it',
    ],
  ])
  const travels = [
    ['loopback', { auth: 'loopback' }],
    ['in the URL', { auth: 'url_secret', secret: 'env:S' }],
    ['a password', { auth: { type: 'basic', user: 'u', secret: 'env:S' } }],
    ['its secret in a header', { auth: 'bearer', secret: 'env:S' }],
    ['its secret in a header', { auth: { type: 'header', name: 'X-Key', value: 'env:S' } }],
    ['signing token', { auth: 'gitlab', secret: 'env:S' }],
    ['signing token', { recipe: 'gitlab', secret: 'env:S' }],
  ] as const
  expect(travels.map(([, options]) => found(options).map(([severity, key]) => [severity, key]))).toEqual(
    travels.map(() => [['low', 'integrations[0].auth']]),
  )
  for (const [words, options] of travels.slice(1)) expect(found(options)[0]?.[2]).toContain(words)
  for (const options of [
    { auth: 'github', secret: 'env:S' },
    { auth: 'standard', secret: 'env:S' },
    { auth: { type: 'sns', topics: ['arn:aws:sns:x'] } },
    { recipe: 'github', secret: 'env:S' },
    { recipe: 'gitlab', secret: 'env:S', auth: 'standard' },
  ])
    expect(found(options)).toEqual([])
})

it('[I14.doctor-security] a hook that posts unsigned, unless its taker has a form of its own', () => {
  const out = (more: object) => found({ secret: 'env:S', out: { url: 'https://a.example', ...more } })
  expect(out({})).toEqual([
    [
      ...['low', 'integrations[0].out.secret'],
      'hook ci posts its answers unsigned: who takes them cannot tell that they are ours',
    ],
  ])
  expect(out({ secret: 'env:O' })).toEqual([])
  expect(out({ format: 'slack' })).toEqual([])
})
