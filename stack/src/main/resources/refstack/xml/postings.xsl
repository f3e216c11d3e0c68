<?xml version="1.0" encoding="UTF-8"?>
<!-- Components of released orders as goods movements; actions.json says the same as actions. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">

  <xsl:template match="/">
    <xsl:apply-templates select="productionOrders"/>
  </xsl:template>

  <xsl:template match="productionOrders">
    <postings plant="{@plant}" day="{concat(substring(@day, 1, 4), '-', substring(@day, 5, 2), '-',
        substring(@day, 7, 2))}">
      <xsl:apply-templates select="order[@status = 'released']/components/component"/>
    </postings>
  </xsl:template>

  <xsl:template match="component">
    <posting order="{../../@number}" position="{@position}">
      <movement>261</movement>
      <product><xsl:value-of select="../../material"/></product>
      <material><xsl:value-of select="material"/></material>
      <text><xsl:value-of select="concat(description, ' for ', ../../description)"/></text>
      <storage plant="{../../../@plant}"><xsl:value-of select="storage"/></storage>
      <quantity unit="{quantity/@unit}"><xsl:value-of select="quantity"/></quantity>
      <value currency="{price/@currency}">
        <xsl:value-of select="format-number(quantity * price, '0.00')"/>
      </value>
    </posting>
  </xsl:template>

</xsl:stylesheet>
