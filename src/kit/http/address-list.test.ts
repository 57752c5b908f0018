// Networks in their written forms, and addresses as sockets and proxies name them.
import { expect, it } from 'vitest'
import { addressList, bareAddress, isNetwork } from './address-list.ts'

it('[I35.b46-verify] knows addresses and networks of both families', () => {
  const has = addressList(['192.0.2.7', '10.0.0.0/8', '2001:db8::/32', '::1'])
  for (const inside of [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '10.255.0.1',
    '2001:db8:1::9',
    '2001:DB8::1',
    '::1',
    '::1%lo',
  ])
    expect([inside, has(inside)]).toEqual([inside, true])
  for (const outside of ['192.0.2.8', '11.0.0.1', '2001:db9::1', '::2', '', 'localhost', '10.0.0.0/8', null])
    expect([outside, has(outside)]).toEqual([outside, false])
  expect(addressList(['0.0.0.0/0'])('203.0.113.5')).toBe(true)
  expect(addressList(['0.0.0.0/0'])('2001:db8::1')).toBe(false)
})

it('[I35.b46-verify] tells what is a network, and what is not', () => {
  for (const good of ['192.0.2.7', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32', '::/0'])
    expect([good, isNetwork(good)]).toEqual([good, true])
  for (const bad of [
    '',
    'localhost',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '::ffff:10.0.0.0/8',
  ])
    expect([bad, isNetwork(bad)]).toEqual([bad, false])
  expect([bareAddress('::ffff:10.0.0.1'), bareAddress(' 10.0.0.1 '), bareAddress('unknown')]).toEqual([
    '10.0.0.1',
    '10.0.0.1',
    null,
  ])
})
