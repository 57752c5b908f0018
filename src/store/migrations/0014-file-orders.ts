// Migration 14: orders to forget the files of a person who was erased, for the disks of other nodes.
import type { Migration } from './migration.ts'

export const fileOrders: Migration = {
  number: 14,
  name: 'file-orders',
  statements: [
    `CREATE TABLE file_orders (
      id TEXT PRIMARY KEY, integration TEXT NOT NULL, sender TEXT NOT NULL, refs TEXT NOT NULL, at BIGINT NOT NULL)`,
    'CREATE TABLE file_orders_done (id TEXT NOT NULL, node TEXT NOT NULL, PRIMARY KEY (id, node))',
  ],
}
