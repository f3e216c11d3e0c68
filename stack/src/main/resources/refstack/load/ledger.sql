drop table if exists ledger_balance, ledger_item, ledger_document, ledger_account cascade;

create table ledger_account (
  account  int  primary key,
  name     text not null,
  group_id int  not null,
  currency text not null
);

create table ledger_document (
  document  int  primary key,
  period    int  not null,
  posted_on date not null,
  kind      text not null,
  author    text not null
);

-- Debit is positive, credit negative; the items of a document add up to nothing.
create table ledger_item (
  document    int  not null references ledger_document,
  line        int  not null,
  account     int  not null references ledger_account,
  period      int  not null,
  amount      numeric(15,2) not null,
  cost_center int  not null,
  text        text not null,
  primary key (document, line)
);

create index ledger_item_account on ledger_item (account, period, amount);

create table ledger_balance (
  account   int not null references ledger_account,
  period    int not null,
  items     int not null,
  debit     numeric(18,2) not null,
  credit    numeric(18,2) not null,
  carried   numeric(18,2) not null,
  closed_at timestamptz   not null default clock_timestamp(),
  primary key (account, period)
);

create view ledger_posting as
  select document, line, d.posted_on, d.kind, account, a.name, a.currency, i.amount
  from ledger_document d
  join ledger_item i using (document)
  join ledger_account a using (account);
